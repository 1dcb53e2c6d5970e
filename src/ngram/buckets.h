/*
 * buckets.h
 *	  V_k parted by the weight that its members are predicted to have, without
 *	  building it.
 */
#ifndef DPNGRAM_BUCKETS_H
#define DPNGRAM_BUCKETS_H

#include "ngram/gramset.h"
#include "ngram/plan.h"

#define MAX_BUCKETS 16

typedef struct Buckets Buckets;

/*
 * The weight that an n-gram is predicted to have, from what is released: the
 * weights of its left partner (the prefix), of its right partner (the suffix;
 * under single-side pruning the last word) and of what the two have in common,
 * in the manner of a Markov chain: h(xyz) = h(xy) h(yz) / h(y), with the sum of
 * S_1 where they have nothing in common.  A noisy weight may be negative, which
 * predicts 0.
 *
 * Buckets are counted by searching this for its edges, so it must never fall
 * when the right partner's weight rises (which holds in IEEE arithmetic, each
 * operation of which is monotone).  If it never falls in the left partner's
 * weight either, the search takes linear time.
 */
static inline double
bucket_prediction(double left, double right, double middle)
{
	if (!(left > 0 && right > 0 && middle > 0))
		return 0;
	return left * right / middle;
}

extern Buckets *buckets_create(const GramSet *previous, const GramSet *middles,
							   const GramSet *words, NgramPruning pruning);
extern uint64 buckets_total(const Buckets *buckets);
extern double buckets_predict(const Buckets *buckets, uint64 key);
extern void buckets_divide(Buckets *buckets, const double *edge, int edges);
extern int buckets_number(const Buckets *buckets);
extern uint64 buckets_count(const Buckets *buckets, int bucket);
extern int buckets_of(const Buckets *buckets, uint64 key);
extern uint64 buckets_rank(const Buckets *buckets, int bucket, uint64 key);
extern uint64 buckets_key(const Buckets *buckets, int bucket, uint64 rank);
extern void buckets_free(Buckets *buckets);

#endif /* DPNGRAM_BUCKETS_H */
