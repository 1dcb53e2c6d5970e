/*
 * corpus.h
 *	  The private texts as flat arrays of token ids, user after user, in memory
 *	  while they fit and in a temporary file beyond.
 *
 * Rounds keep each user's list of distinct n-grams the same way: a record whose
 * ids are numbers of n-grams, from 1, and whose hash is any number of the user's.
 */
#ifndef DPNGRAM_CORPUS_H
#define DPNGRAM_CORPUS_H

#include "postgres.h"

#include "storage/buffile.h"

/*
 * A user with more positions than this (tokens, and one for the end of each
 * document) is left out: a public cap.  Not cut short, because what is left would
 * depend on the order of the user's rows, and that on other users' rows.
 */
#ifndef CORPUS_MAX_USER_TOKENS
#define CORPUS_MAX_USER_TOKENS (1 << 26)
#endif

typedef struct Corpus Corpus;

/*
 * A word that the vocabulary had no room for has no id.  It stands as an escape of five
 * array elements: this one, then the word's key and its content (word_key() in
 * fingerprint.h), each as two halves, the low one first.  Any of these four may be 0 or
 * look like an id, so whoever walks over ids that may have escapes must step over them.
 */
#define CORPUS_WIDE PG_UINT32_MAX
#define CORPUS_WIDE_WORDS 5

/*
 * One user's positions; documents are parted by id 0.  As it was built, a corpus may have
 * escapes, and then n counts their elements.
 */
typedef struct CorpusUser
{
	uint64 hash;   /* of the user's own key, for keyed choices */
	uint32 n;	   /* elements: one a position */
	uint32 *id;	   /* n ids: of the gram that starts there, or 0 */
	uint32 *token; /* n ids of single tokens, built as a copy; NULL if not paired */
} CorpusUser;

/*
 * A user's record as it lies in memory; tokens follow the ids.  Two words of 32 bits make
 * the hash, so that records need no more than 32-bit alignment.
 */
typedef struct CorpusRecord
{
	uint32 hash[2];
	uint32 n;
	uint32 id[FLEXIBLE_ARRAY_MEMBER];
} CorpusRecord;

/* The record of a user who was handed out. */
static inline CorpusRecord *
corpus_record(const CorpusUser *user)
{
	return (CorpusRecord *) ((char *) user->id - offsetof(CorpusRecord, id));
}

/* A pass over all users, which may also shorten or drop them. */
typedef struct CorpusScan
{
	Corpus *corpus;
	bool rewrite;
	Size next;		   /* word of the next record in memory */
	Size kept;		   /* words kept so far in memory */
	uint64 files_left; /* records not yet read from the file */
	BufFile *out;	   /* the file's records that are kept */
	uint64 out_users;
} CorpusScan;

/* Building, user after user; ids are positive. */
extern Corpus *corpus_create(Size memory_limit, bool paired);
extern Corpus *corpus_create_in(BufFile *file);
extern void corpus_begin_user(Corpus *corpus, uint64 hash);
extern void corpus_add_token(Corpus *corpus, uint32 id);
extern void corpus_end_document(Corpus *corpus);
extern void corpus_add_document(Corpus *corpus, const uint32 *words, uint32 n, uint32 positions);
extern void corpus_end_user(Corpus *corpus);

/* Passes. */
extern void corpus_scan_begin(CorpusScan *scan, Corpus *corpus, bool rewrite);
extern bool corpus_scan_next(CorpusScan *scan, CorpusUser *user);
extern CorpusRecord *corpus_scan_keep(CorpusScan *scan, const CorpusUser *user);
extern void corpus_scan_end(CorpusScan *scan);

extern Size corpus_room(const Corpus *corpus);
extern bool corpus_spilled(const Corpus *corpus);
extern void corpus_free(Corpus *corpus);

#endif /* DPNGRAM_CORPUS_H */
