/*
 * team.h
 *	  A leader and its parallel workers, each of whom keeps and counts the texts of users
 *	  of its own.
 */
#ifndef DPNGRAM_TEAM_H
#define DPNGRAM_TEAM_H

#include "access/parallel.h"
#include "common/dp_random.h"
#include "ngram/source.h"
#include "ngram/team_stream.h"

/* More would wait for the one that deals the rows out; and a set of them is 64 bits. */
#define TEAM_MAX_WORKERS 63

/* What a worker must know before the first row.  No pointers. */
typedef struct TeamTask
{
	CountSpec spec;
	char tokenizer[NAMEDATALEN];
	Oid text_type;
	Oid user_type;
	Oid user_collation;
} TeamTask;

/* What the leader asks for, and what follows in the stream; and the answer. */
typedef enum TeamRequest
{
	TEAM_DOCUMENT,	   /* user's hash, user, text */
	TEAM_READ,		   /* no more documents */
	TEAM_HISTOGRAM,	   /* k; n > 0 and so many TeamSums, again and again, and n = 0 */
	TEAM_ROUNDS_BEGIN, /* k, draw; n and so many ItemKeys */
	TEAM_ROUND,		   /* a weight for each, in their order */
	TEAM_BIASES,	   /* a bias for each, in their order */
	TEAM_ROUNDS_END,
	TEAM_SPELL,	 /* n and so many keys; for each a length and bytes, or TEAM_UNKNOWN */
	TEAM_WORDS,	 /* n and so many keys */
	TEAM_GRAMS,	 /* k, n and so many keys */
	TEAM_DISMISS /* leave */
} TeamRequest;

#define TEAM_UNKNOWN PG_UINT32_MAX

typedef struct TeamSum
{
	ItemKey key;
	int64 weight;
} TeamSum;

/* The leader's side. */
typedef struct Team
{
	int workers;
	TeamStream *stream; /* to each */
	TeamType user;
	TeamType text;
	ParallelContext *context;
	ErrorContextCallback callback;
	bool failed; /* a worker has raised an error */
} Team;

/*
 * How many users the leader keeps to itself, to a worker's 100: fewer, since it also reads
 * the rows and deals them out, which takes about a sixth of what is then done with them,
 * whoever does that.
 */
#define TEAM_LEADER_SHARE(workers) Max(85 - 15 * (workers), 0)

/* Whose user is it?  0: the leader's; else a worker's, from 1. */
static inline int
team_member(const Team *team, uint64 hash)
{
	int64 own = TEAM_LEADER_SHARE(team->workers);
	uint64 shares = 100 * (uint64) team->workers + own;
	int64 share = (int64) (((dp_mix64(shares, hash) >> 32) * shares) >> 32);

	return share < own ? 0 : 1 + (int) ((share - own) / 100);
}

typedef void (*TeamRun)(void *state, Team *team);

extern bool team_try(const TeamTask *task, Oid owner, int workers, TeamRun run, void *state);

static inline void
team_ask(TeamStream *stream, TeamRequest request)
{
	int32 number = request;

	team_write(stream, &number, sizeof(number));
}

/* team_worker.c */
#define TEAM_KEY_TASK UINT64CONST(1)
#define TEAM_KEY_QUEUES UINT64CONST(2)
#define TEAM_QUEUE_SIZE ((Size) 1024 * 1024)

extern PGDLLEXPORT void dpngram_team_worker(dsm_segment *segment, shm_toc *toc);

#endif /* DPNGRAM_TEAM_H */
