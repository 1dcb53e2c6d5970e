/*
 * bucket_support.h
 *	  The members of V_k that nobody has and that are released all the same,
 *	  bucket by bucket.
 */
#ifndef DPNGRAM_BUCKET_SUPPORT_H
#define DPNGRAM_BUCKET_SUPPORT_H

#include "common/dp_sample.h"
#include "ngram/buckets.h"

typedef struct BucketSupport BucketSupport;

typedef void (*BucketVisitor)(void *state, int bucket, uint64 key);

extern BucketSupport *bucket_support_create(const Buckets *buckets, Size memory_limit);
extern void bucket_support_add(BucketSupport *support, int bucket, uint64 key);
extern uint64 bucket_support_count(const BucketSupport *support, int bucket);
extern void bucket_support_spurious(BucketSupport *support, DpRandom *random, const DpRate *rate,
									BucketVisitor found, void *state);
extern void bucket_support_free(BucketSupport *support);

#endif /* DPNGRAM_BUCKET_SUPPORT_H */
