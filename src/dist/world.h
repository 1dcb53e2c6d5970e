/*
 * world.h
 *	  A population of users, and what the methods release about it.
 */
#ifndef DPNGRAM_WORLD_H
#define DPNGRAM_WORLD_H

#include "dist/plan.h"
#include "dist/public.h"
#include "dist/rows.h"
#include "ngram/noise.h"

/* What came of a release besides the distribution: functions of what was released. */
typedef struct DistReport
{
	double max_norm;	 /* L, chosen or given; 0: none */
	double prior_weight; /* of the public distribution in the result; shrinkage only */
	double slope;		 /* S and rho that were used; log methods only */
	double weight;
	double sensitivity; /* local-sensitivity only: gamma, a function of the data */
} DistReport;

/*
 * One population under one plan.  What does not depend on noise is computed once, so
 * that a membership attack can release it many times.
 */
typedef struct DistWorld
{
	const DistPlan *plan;
	const PublicGrams *grams;
	GramRows *rows;
	int64 without;	  /* the user who is left out, or -1 */
	uint64 split_key; /* of the users' parts in private tuning */
	void *counted;	  /* exact statistics, private; what they are is the method's own */
} DistWorld;

extern void dist_world_init(DistWorld *world, const DistPlan *plan, const PublicGrams *grams,
							GramRows *rows, int64 without, const Noise *noise);
extern void dist_world_release(DistWorld *world, Noise *noise, int run, double *theta,
							   DistReport *report);

/* the methods: count_space.c, log_space.c, printed.c */
extern void release_counts(DistWorld *world, Noise *noise, int run, double *theta,
						   DistReport *report);
extern void release_logs(DistWorld *world, Noise *noise, int run, double *theta,
						 DistReport *report);
extern void release_printed(DistWorld *world, Noise *noise, int run, double *theta,
							DistReport *report);

/* log_space.c: eta, the logarithm of a candidate's probabilities but for a constant */
extern void posterior_logs(const double *prior, const double *feature, double weight, Size n,
						   double *eta);

/* tuning.c: private tuning of the log methods */
extern bool in_training(const DistWorld *world, const GramRow *row);
extern int choose_candidate(const DistWorld *world, Noise *noise, int run, const double *prior,
							double *const *features);

/* what they share */
extern bool world_next(const DistWorld *world, GramRowScan *scan, GramRow *row);
extern void add_noise(const DistNoise *noise, Noise *source, int stream, int64 *sum, Size n);
extern int64 *zero_counts(Size n);
extern double *zero_doubles(Size n);
extern int world_stream(int run, int release);

#endif /* DPNGRAM_WORLD_H */
