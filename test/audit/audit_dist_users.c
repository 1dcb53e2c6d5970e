/*
 * audit_dist_users.c
 *	  What one user can change in releases of distributions, in integers: property tests
 *	  over random crowds, bounds and plans, and over the worst neighbours of log features.
 *
 * Two crowds differ in one user.  The second's release is a replay of the first's: every
 * step has the same outcome, so the steps start from what the same history led to.  Then
 * each step's vectors differ by what the user moves, which must be within the norm that
 * the noise is made for; what all steps move must be paid for; and both answers must be
 * the same, since all the rest is to be made of outcomes and of what is public.
 */
#include "postgres.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "common/dp_sample.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "audit_crowd.h"
#include "audit_dist.h"

#define MAX_VOCABULARY 12
#define MAX_USERS 6

/* Norms beyond are clipped; as in the arguments of the SQL function. */
#define MAX_NORM 65536.0

typedef struct UserAudit
{
	DistMethod method;
	bool tune;
	bool pure;
	Noise noise;

	int64 pairs;
	int64 unplanned; /* queries for which there is no noise */
	int64 too_far;	 /* steps that one user moves by more than 1 */
	double furthest;
	int64 undebited; /* pairs in which all steps together move by more than is debited */
	double worst_debit;
	int64 other_answer;	  /* pairs with another answer from the same outcomes */
	int64 other_world;	  /* leaving a user out by number is not as if nobody were there */
	int64 both_parts;	  /* users who move candidates and choice */
	int64 wrong_costs;	  /* costs that one user moves by less than 0 or more than 1 */
	int64 changed_rows;	  /* rows of others that are not the same */
	int64 outside_bounds; /* rows with more than C or W allow */
} UserAudit;

static DpRandom *
random_of(UserAudit *audit)
{
	return &audit->noise.random;
}

/* 0 .. n - 1 */
static uint32
below(UserAudit *audit, uint32 n)
{
	return (uint32) dp_uniform(random_of(audit), n);
}

static double
between(UserAudit *audit, double low, double high)
{
	return low + (high - low) * ldexp((double) (dp_random_u64(random_of(audit)) >> 11), -53);
}

static int64
one_of(UserAudit *audit, const int64 *choice, int n)
{
	return choice[below(audit, n)];
}

/* ---- random queries and crowds ---- */

static void
random_bounds(UserAudit *audit, DistQuery *query)
{
	static const int64 counts[] = {1, 2, 3, 7, 100, PG_INT32_MAX};
	static const int64 contributions[] = {1, 2, 3, 5, 10, DP_MAX_KEYS};

	query->once = below(audit, 5) == 0;
	query->max_count = 1;
	if (!query->once)
		query->max_count = one_of(audit, counts, query->method == DIST_LOG_POSTERIOR ? 5 : 6);
	query->max_contributions = one_of(audit, contributions, lengthof(contributions));
	if (query->method == DIST_SHRINKAGE && below(audit, 3) > 0)
		query->max_norm = exp(between(audit, 0, log(MAX_NORM)));
	query->norm_share = between(audit, 0.01, 0.9);
}

static DistQuery
random_query(UserAudit *audit)
{
	double delta = audit->pure ? 0 : pow(10, between(audit, -9, -1));
	DistQuery query = crowd_query(audit->method, pow(10, between(audit, -2, 1.3)), delta);

	random_bounds(audit, &query);
	query.slope = pow(10, between(audit, -3, 4));
	query.weight = between(audit, 0.01, 1);
	query.center = below(audit, 2) ? NAN : between(audit, -2, 6);
	query.tune = audit->tune;
	query.train_share = between(audit, 0.1, 0.9);
	return query;
}

/* A count of any order of magnitude; small where each occurrence is looked at. */
static uint32
random_count(UserAudit *audit, const DistQuery *query)
{
	uint32 bits = below(audit, query->method == DIST_LAPLACE ? 8 : 32);

	return Max(1, (uint32) (((UINT64CONST(1) << bits) - 1) - below(audit, 1 << Max(bits, 1) / 2)));
}

static Crowd *
random_crowd(UserAudit *audit, const DistQuery *query)
{
	uint32 vocabulary = 1 + below(audit, MAX_VOCABULARY);
	uint32 users = 1 + below(audit, MAX_USERS);
	Crowd *crowd = crowd_create(vocabulary);

	for (uint32 number = 1; number <= vocabulary; number++)
		crowd_public(crowd, number, INT64CONST(1) << below(audit, 30));
	for (uint32 user = 0; user < users; user++)
	{
		uint32 first = below(audit, vocabulary);
		/* some of them twice, so that counts add up, to more than a count can be */
		uint32 grams = 1 + below(audit, 2 * vocabulary);

		crowd_user(crowd);
		for (uint32 i = 0; i < grams; i++)
			crowd_count(crowd, (first + i) % vocabulary + 1, random_count(audit, query));
	}
	return crowd;
}

/* ---- the worst neighbours of log features ---- */

static long double
log_feature(int64 users, int64 count, const DistQuery *query, double center)
{
	long double weight = fminl(1, (long double) query->slope * users / query->max_count);

	return weight * (logl(1 + count) - center);
}

/*
 * The worst (N, c, d), by trying all: N users have an n-gram c times in all, and one
 * more has it d times.  Small C and C/S only.
 */
WorstCase
worst_case(const DistQuery *query, double center)
{
	WorstCase worst = {0};
	int64 most = query->max_count;
	int64 users = (int64) ceil(most / query->slope) + 2;

	for (int64 n = 0; n <= users; n++)
		for (int64 c = n; c <= most * n; c++)
			for (int64 d = 1; d <= most; d++)
			{
				double moved = (double) (log_feature(n + 1, c + d, query, center) -
										 log_feature(n, c, query, center));

				if (fabs(moved) > fabs(worst.moved))
					worst = (WorstCase){n, c, d, moved};
			}
	return worst;
}

/* So many users who have every n-gram of the vocabulary, and the one more: the last user. */
Crowd *
worst_crowd(uint32 vocabulary, int64 max_count, WorstCase worst)
{
	Crowd *crowd = crowd_create(vocabulary);
	int64 left = worst.count - worst.users;

	for (int64 user = 0; user <= worst.users; user++)
	{
		int64 more = Min(left, max_count - 1);
		int64 count = user < worst.users ? 1 + more : worst.added;

		left -= more;
		crowd_user(crowd);
		for (uint32 number = 1; number <= vocabulary; number++)
			crowd_count(crowd, number, (uint32) count);
	}
	return crowd;
}

/* Bounds for which all neighbours can be tried, and W as large as the vocabulary. */
static Crowd *
random_worst(UserAudit *audit, DistQuery *query, const DistPlan *plan)
{
	uint32 vocabulary = 1 + below(audit, MAX_VOCABULARY);

	query->max_contributions = vocabulary;
	return worst_crowd(vocabulary, query->max_count, worst_case(query, plan->center[0]));
}

static void
bound_worst(UserAudit *audit, DistQuery *query)
{
	query->once = false;
	query->max_count = 1 + below(audit, 4);
	query->slope = query->max_count / pow(10, between(audit, -4, 1.2));
}

/* ---- comparing two crowds ---- */

/* The norm of what one user moves, in units; *within is decided in integers. */
static double
moved(const AuditStep *a, const AuditStep *b, int64 unit, bool *within)
{
	dp_uint128 sum = 0;
	bool l1 = a->kind == AUDIT_LAPLACE;

	for (int i = 0; i < a->n; i++)
	{
		uint64 d = (uint64) llabs((long long) (a->exact[i] - b->exact[i]));

		sum += l1 ? d : (dp_uint128) d * d;
	}
	*within = sum <= (l1 ? (dp_uint128) unit : (dp_uint128) unit * unit);
	return l1 ? (double) sum / unit : sqrt((double) sum) / unit;
}

/* What a choice costs if one user raises costs by at most "most" lattice units. */
static double
choice_mu2(int64 scale, int64 most)
{
	double epsilon = ldexp((double) scale * (double) most, -2 * DP_LATTICE_BITS);
	double mu = 2 * gsl_cdf_ugaussian_Qinv(1 / (1 + exp(epsilon)));

	return mu * mu;
}

/* The costs with and without the user; true if they differ. */
static bool
compare_costs(UserAudit *audit, const AuditStep *with, const AuditStep *without, double *paid)
{
	int64 most = 0;
	bool wrong = false;

	for (int i = 0; i < with->n; i++)
	{
		int64 d = with->exact[i] - without->exact[i];

		wrong = wrong || d < 0 || d > DP_LATTICE_ONE;
		most = Max(most, llabs((long long) d));
	}
	audit->wrong_costs += wrong;
	*paid += choice_mu2(with->scale, most);
	return most > 0;
}

static void
compare_steps(UserAudit *audit, const DistPlan *plan, const AuditRelease *with,
			  const AuditRelease *without)
{
	double paid = 0;
	bool candidates = false;
	bool choice = false;

	for (int i = 0; i < with->n; i++)
	{
		const AuditStep *a = &with->step[i];
		const AuditStep *b = &without->step[i];
		bool within;
		double by;

		if (a->kind == AUDIT_CHOICE)
		{
			choice = compare_costs(audit, a, b, &paid);
			continue;
		}
		by = moved(a, b, plan_unit(plan), &within);
		candidates = candidates || by > 0;
		audit->too_far += !within;
		audit->furthest = Max(audit->furthest, by);
		by *= (double) plan_unit(plan) / a->scale;
		paid += a->kind == AUDIT_LAPLACE ? by : by * by;
	}
	audit->both_parts += candidates && choice;
	audit->undebited += !(paid <= plan_debit(plan));
	audit->worst_debit = Max(audit->worst_debit, paid / plan_debit(plan));
}

static bool
same_exact(const AuditRelease *a, const AuditRelease *b)
{
	for (int i = 0; i < a->n; i++)
		if (memcmp(a->step[i].exact, b->step[i].exact, a->step[i].n * sizeof(int64)) != 0)
			return false;
	return a->n == b->n;
}

static bool
within_bounds(const DistQuery *query, const GramRow *row)
{
	int64 total = 0;
	bool fits = true;

	for (uint32 i = 0; i < row->n; i++)
	{
		total += row_count(row, i);
		fits = fits && row_count(row, i) >= 1 && row_count(row, i) <= query->max_count;
	}
	if (dist_row_bounds(query).occurrences)
		return fits && total <= query->max_contributions;
	return fits && row->n <= query->max_contributions;
}

/* The rows of all others must not know whether the user is there. */
static void
compare_rows(UserAudit *audit, const DistQuery *query, GramRows *with, GramRows *without,
			 uint32 user)
{
	GramRowScan scan[2];
	GramRow row;
	GramRow other;

	rows_scan_begin(&scan[0], with);
	rows_scan_begin(&scan[1], without);
	while (rows_scan_next(&scan[0], &row))
	{
		audit->outside_bounds += !within_bounds(query, &row);
		if (row.hash == crowd_hash(user))
			continue;
		audit->changed_rows += !rows_scan_next(&scan[1], &other) || other.hash != row.hash ||
							   other.n != row.n ||
							   memcmp(other.pair, row.pair, 2 * row.n * sizeof(uint32)) != 0;
	}
	audit->changed_rows += rows_scan_next(&scan[1], &other);
	rows_scan_end(&scan[0]);
	rows_scan_end(&scan[1]);
}

static void
compare_crowds(UserAudit *audit, const Crowd *crowd, const DistPlan *plan, uint32 user)
{
	uint64 key = dp_random_u64(random_of(audit));
	GramRows *with = crowd_rows(crowd, &plan->query, key, -1);
	GramRows *without = crowd_rows(crowd, &plan->query, key, user);
	AuditRelease first;
	AuditRelease second;
	AuditRelease third;
	DistWorld world;

	audit->noise.sampling_key = key;
	crowd_release(crowd, plan, with, &audit->noise, NULL, &first);
	crowd_release(crowd, plan, without, &audit->noise, &first, &second);
	dist_world_init(&world, plan, &crowd->grams, with, user, &audit->noise);
	crowd_release_world(&world, &audit->noise, &first, &third);
	compare_steps(audit, plan, &first, &second);
	audit->other_answer += memcmp(first.theta, second.theta,
								  crowd->grams.size * sizeof(double)) != 0;
	audit->other_world += !same_exact(&second, &third);
	compare_rows(audit, &plan->query, with, without, user);
	audit->pairs++;
	rows_free(with);
	rows_free(without);
}

/* One random pair of neighbours. */
static void
compare_pair(UserAudit *audit)
{
	DistQuery query = random_query(audit);
	bool worst = audit->method == DIST_LOG_POSTERIOR && !audit->tune && below(audit, 2) == 0;
	Crowd *crowd;
	DistPlan plan;

	if (worst)
		bound_worst(audit, &query);
	if (!crowd_plan(&query, (DistSplit){0}, &plan))
	{
		audit->unplanned++;
		return;
	}
	crowd = worst ? random_worst(audit, &query, &plan) : random_crowd(audit, &query);
	/* where W has been set since */
	if (!crowd_plan(&query, (DistSplit){0}, &plan))
		audit->unplanned++;
	else
		compare_crowds(audit, crowd, &plan,
					   worst ? crowd->users - 1 : below(audit, crowd->users));
}

/*
 * audit_dist_users(method text, tune boolean, pure boolean, pairs bigint,
 *				 at_least float8)
 *
 * at_least: what one user should move at the most, of the norm that the noise is made for;
 * less would be needless noise.
 */
AUDIT_FUNCTION(audit_dist_users)
{
	UserAudit audit = {.method = crowd_method(text_to_cstring(PG_GETARG_TEXT_PP(0))),
					   .tune = PG_GETARG_BOOL(1),
					   .pure = PG_GETARG_BOOL(2)};
	int64 pairs = PG_GETARG_INT64(3);
	double least = PG_GETARG_FLOAT8(4);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "audit pair",
												  ALLOCSET_DEFAULT_SIZES);

	verdicts_begin(fcinfo);
	crowd_answers = true;
	noise_init(&audit.noise, false, 0);
	for (int64 i = 0; i < pairs; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		compare_pair(&audit);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
	noise_clear(&audit.noise);
	verdict(fcinfo, "one user moves every step by at most 1", audit.too_far == 0,
			audit.furthest, 1, audit.pairs);
	verdict(fcinfo, "and some user by nearly that", audit.furthest >= least, audit.furthest,
			least, audit.pairs);
	verdict(fcinfo, "what one user moves in all steps is debited", audit.undebited == 0,
			audit.worst_debit, 1, audit.pairs);
	verdict(fcinfo, "the same outcomes have the same answer, whoever is there",
			audit.other_answer == 0, audit.other_answer, 0, audit.pairs);
	verdict(fcinfo, "a user left out by number is as one who is not there",
			audit.other_world == 0, audit.other_world, 0, audit.pairs);
	verdict(fcinfo, "one user changes no other's row", audit.changed_rows == 0,
			audit.changed_rows, 0, audit.pairs);
	verdict(fcinfo, "rows are within C and W", audit.outside_bounds == 0,
			audit.outside_bounds, 0, audit.pairs);
	verdict(fcinfo, "nearly all random queries have a plan", audit.pairs >= 0.8 * pairs,
			audit.pairs, 0.8 * pairs, pairs);
	if (audit.tune)
	{
		verdict(fcinfo, "no user has a say in candidates and in the choice",
				audit.both_parts == 0, audit.both_parts, 0, audit.pairs);
		verdict(fcinfo, "one user raises each cost by 0 to 1", audit.wrong_costs == 0,
				audit.wrong_costs, 0, audit.pairs);
	}
	return (Datum) 0;
}
