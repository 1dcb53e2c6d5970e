/*
 * world.c
 *	  A population of users, and what the methods release about it: what they share.
 */
#include "postgres.h"

#include "common/dp_audit.h"
#include "dist/world.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* streams of a seeded call, above those of the extraction's levels */
#define STREAM_DIST 10000
#define STREAMS_PER_RUN 16

/* Not the key of the bounds on a user's row: being kept says nothing of the part. */
#define SPLIT_SALT UINT64CONST(0x9E6C63D0676A9A99)

/*
 * The population of the rows, but for one user ("without", a row's number; -1: all).
 * rows and grams live as long as the world.
 */
void
dist_world_init(DistWorld *world, const DistPlan *plan, const PublicGrams *grams,
				GramRows *rows, int64 without, const Noise *noise)
{
	*world = (DistWorld){
		.plan = plan,
		.grams = grams,
		.rows = rows,
		.without = without,
		.split_key = dp_mix64(noise->sampling_key, SPLIT_SALT)};
}

/* The next row of the population. */
bool
world_next(const DistWorld *world, GramRowScan *scan, GramRow *row)
{
	do
	{
		if (!rows_scan_next(scan, row))
			return false;
	} while (row->user == world->without);
	return true;
}

int64 *
zero_counts(Size n)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, n * sizeof(int64),
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

double *
zero_doubles(Size n)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, n * sizeof(double),
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* The stream of a seeded call for one of a run's releases. */
int
world_stream(int run, int release)
{
	Assert(release < STREAMS_PER_RUN);
	return STREAM_DIST + run * STREAMS_PER_RUN + release;
}

/* The noise of a release, on every coordinate. */
void
add_noise(const DistNoise *noise, Noise *source, int stream, int64 *sum, Size n)
{
	DP_AUDIT_EXACT(noise->laplace ? AUDIT_LAPLACE : AUDIT_GAUSSIAN, noise->scale, sum, n);
	for (Size i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		sum[i] += noise->laplace ? noise_laplace(source, noise->scale, stream, i) :
								   noise_gaussian(source, noise->scale, stream, i);
	}
	DP_AUDIT_OUTCOME(sum, n);
}

/*
 * One release of the population: a distribution over the vocabulary, positive and of
 * sum 1.  "run" numbers repeated releases.
 */
void
dist_world_release(DistWorld *world, Noise *noise, int run, double *theta, DistReport *report)
{
	memset(report, 0, sizeof(*report));
	switch (world->plan->query.method)
	{
		case DIST_SHRINKAGE:
		case DIST_LAPLACE:
		case DIST_LAPLACE_PUBLIC:
			release_counts(world, noise, run, theta, report);
			break;
		case DIST_LOG_POSTERIOR:
			release_logs(world, noise, run, theta, report);
			break;
		case DIST_LOCAL_SENSITIVITY:
			release_printed(world, noise, run, theta, report);
			break;
	}
}
