/*
 * public.h
 *	  The public side of a distribution: a vocabulary of n-grams and their counts.
 */
#ifndef DPNGRAM_PUBLIC_H
#define DPNGRAM_PUBLIC_H

#include "postgres.h"

#include "ngram/vocabulary.h"
#include "datatype/timestamp.h"
#include "storage/shm_mq.h"

/* A larger vocabulary is refused: each of its n-grams takes about a hundred bytes. */
#define PUBLIC_MAX_GRAMS (1 << 24)

/* N-grams are numbered from 1 in the order of their bytes; number i stands at i - 1. */
typedef struct PublicGrams
{
	int n;		  /* tokens of each */
	bool escaped; /* blanks and backslashes within tokens have a backslash before them */
	uint32 size;
	text **gram;
	int64 *count;
	double *probability; /* positive, of sum 1 */

	/* for finding them in texts */
	Vocabulary *words;
	uint32 *token; /* ids of the words, n for each n-gram */
	struct public_index_hash *index;
} PublicGrams;

/* public_read.c: from a relation, with the caller's rights */
extern PublicGrams *public_read(Oid relid, int n, bool escaped);

/* public_queue.c: from the session that read it to the process that counts */
extern void public_send(const PublicGrams *grams, shm_mq_handle *queue,
						TimestampTz deadline);
extern PublicGrams *public_receive(shm_mq_handle *queue);

/* public.c */
extern void public_check(const PublicGrams *grams);
extern void public_index(PublicGrams *grams);
extern uint32 public_find(const PublicGrams *grams, const uint32 *words);

#endif /* DPNGRAM_PUBLIC_H */
