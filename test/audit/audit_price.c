/*
 * audit_price.c
 *	  What a call pays for against what it does: every sigma drawn with, the
 *	  promise behind the price, the thresholds, and the l2 norm of a user.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "audit.h"
#include "common/dp_sample.h"

/* ------------------------------------------------------------------------
 * the plan
 * ------------------------------------------------------------------------ */

typedef struct PriceAudit
{
	World *world;
	Noise noise;
	int64 plans;
	int64 complete;			/* plans all of whose steps drew noise */
	int64 undebited;		/* sum of (2^m / sigma)^2 above mu2 */
	int64 wrong_sigma;		/* a sigma drawn with that isn't the step's */
	int64 broken_promise;	/* price above (epsilon, delta) */
	int64 low_threshold;	/* threshold that delta_add doesn't pay for */
	int64 limited;			/* plans under a limit */
	int64 above_limit;		/* pure lane above its limit */
	int64 low_slack;		/* pure lane below what the lattice costs */
	double worst_debit;		/* largest sum / mu2 */
	double worst_promise;	/* largest delta of the price / delta */
	double least_promise;	/* and smallest */
	double worst_threshold; /* largest probability of a novel n-gram / delta_add */
	double worst_limit;		/* largest pure lane / its limit */
	double worst_slack;		/* largest cost of the lattice / pure lane */
	int64 zcdp_plans;		/* plans by zCDP */
	int64 zcdp_broken;		/* their price above (epsilon, delta) */
	double zcdp_worst;		/* largest delta of their price / delta */
	double zcdp_least;		/* and smallest */
} PriceAudit;

long double
normal_tail(long double z)
{
	return 0.5L * erfcl(z / sqrtl(2));
}

/*
 * The delta at epsilon of a price: e^s dG(epsilon - s, mu) + delta_add, by the
 * textbook form in long double.
 */
double
lanes_delta(double mu2, double eps_pure, double delta_add, double epsilon)
{
	long double mu = sqrtl(mu2);
	long double left = epsilon - eps_pure;
	long double gaussian = normal_tail(left / mu - mu / 2) -
						   expl(left) * normal_tail(left / mu + mu / 2);

	return (double) (expl(eps_pure) * gaussian + delta_add);
}

static double
price_delta(const NgramPlan *plan, double epsilon)
{
	return lanes_delta(plan->mu2, plan->eps_pure, plan->delta_add, epsilon);
}

/* ln of what rho-zCDP gives at epsilon by the order 1 + exp(t), by the textbook form. */
static long double
zcdp_log_delta(long double rho, long double epsilon, long double t)
{
	long double b = expl(t);

	return b * ((1 + b) * rho - epsilon) - (1 + b) * log1pl(1 / b) - t;
}

/* The conversion's value at the best order, on whose sides it rises. */
double
rho_delta(long double rho, double epsilon)
{
	long double low = -20;
	long double high = 20;

	for (int i = 0; i < 150; i++)
	{
		long double third = (high - low) / 3;

		if (zcdp_log_delta(rho, epsilon, low + third) < zcdp_log_delta(rho, epsilon, high - third))
			high -= third;
		else
			low += third;
	}
	return (double) expl(zcdp_log_delta(rho, epsilon, low));
}

/*
 * The delta at epsilon of a plan by zCDP, with the discrete noise as it is drawn: for
 * rho = half the sum of (2^m / sigma)^2, and what the tails add, and what the delta lane
 * is charged.
 */
static double
zcdp_delta(const NgramPlan *plan, double epsilon)
{
	long double rho = plan->tail_rho;

	for (int i = 1; i <= plan->nsteps; i++)
		rho += (long double) DP_LATTICE_ONE / plan->step[i].sigma * DP_LATTICE_ONE /
			   plan->step[i].sigma / 2;
	return rho_delta(rho, epsilon) + plan->delta_add;
}

/*
 * The largest probability, over t up to the step's bound, that one of t n-grams
 * of one user alone exceeds the threshold.
 */
static double
novel_probability(const NgramStep *step)
{
	double worst = 0;

	for (int64 t = 1; t <= step->bound; t++)
	{
		int64 weight = (int64) floor(DP_LATTICE_ONE / sqrt((double) t));
		double one = lattice_tail(step->sigma, step->threshold - weight);

		worst = Max(worst, -expm1(t * log1p(-one)));
	}
	return worst;
}

/* What the lattice costs in epsilon (doc/privacy.md, "The lattice"). */
double
lattice_slack(int64 sigma, int64 keys)
{
	double mu = DP_LATTICE_ONE / (double) sigma;
	double unit = 1.0 / sigma;

	return keys * unit * unit * ((12 * 12 - 1) + ((12 + mu) * (12 + mu) - 1)) / 24;
}

static void
judge_lanes(PriceAudit *audit, const NgramPlan *plan)
{
	int unions = plan->query.method == METHOD_DPNE ? 1 : plan->nsteps;
	double novel = 0;
	double slack = 0;

	for (int i = 1; i <= unions; i++)
		novel += novel_probability(&plan->step[i]);
	for (int i = 1; i <= plan->nsteps; i++)
	{
		slack += lattice_slack(plan->step[i].sigma, plan->step[i].bound);
		novel += plan->step[i].bound * 2 * (double) normal_tail(12);
	}
	audit->low_threshold += !(novel <= plan->delta_add);
	audit->low_slack += !(slack <= plan->eps_pure);
	audit->worst_slack = Max(audit->worst_slack, slack / plan->eps_pure);
	audit->worst_threshold = Max(audit->worst_threshold, novel / plan->delta_add);
}

static void
judge_promise(PriceAudit *audit, const NgramPlan *plan)
{
	double promise = price_delta(plan, plan->query.epsilon) / plan->query.delta;

	audit->broken_promise += !(promise <= 1);
	audit->worst_promise = Max(audit->worst_promise, promise);
	judge_lanes(audit, plan);
}

/* The same query where zCDP alone has to keep its promise. */
static void
judge_zcdp(PriceAudit *audit, const NgramQuery *query, double share)
{
	NgramSplit split = {.threshold_share = share, .division.zcdp = true};
	NgramPlan plan;
	double promise;
	double tail = 0;

	if (ngram_plan(query, split, &plan) != DP_OK)
		elog(ERROR, "no plan by zCDP for epsilon %g, delta %g", query->epsilon, query->delta);
	promise = zcdp_delta(&plan, query->epsilon) / query->delta;
	for (int i = 2; query->method == METHOD_DPNE && i <= plan.nsteps; i++)
	{
		double mu = DP_LATTICE_ONE / (double) plan.step[i].sigma;
		double error = 1e-13 * sqrt((double) plan.step[i].bound);

		tail += error * mu + error * error / 2;
	}
	audit->zcdp_plans++;
	audit->zcdp_broken += !(promise <= 1 && tail <= plan.tail_rho);
	audit->zcdp_worst = Max(audit->zcdp_worst, promise);
	audit->zcdp_least = Min(audit->zcdp_least, promise);
	judge_lanes(audit, &plan);
}

/* Run the plan so that every level has something to draw noise for. */
static void
run_plan(PriceAudit *audit, const NgramPlan *plan)
{
	NgramPlan open = *plan;

	for (int i = 1; i <= plan->nsteps; i++)
		open.step[i].threshold = -(INT64CONST(1) << 60);
	open.query.spurious = 0.9;
	audit_log_clear();
	world_run(audit->world, &open, &audit->noise, NULL, NULL, NULL);
}

static void
judge_sigmas(PriceAudit *audit, const NgramPlan *plan)
{
	long double sum = 0;
	bool complete = true;

	for (int i = 1; i <= plan->nsteps; i++)
	{
		int64 sigma = audit_log_sigma(i);

		complete = complete && sigma != 0;
		audit->wrong_sigma += sigma != 0 && sigma != plan->step[i].sigma;
		if (sigma != 0)
			sum += (long double) DP_LATTICE_ONE / sigma * DP_LATTICE_ONE / sigma;
	}
	audit->wrong_sigma += audit_log_changed();
	audit->complete += complete;
	audit->undebited += !(sum <= plan->mu2);
	audit->worst_debit = Max(audit->worst_debit, (double) (sum / plan->mu2));
}

/*
 * One query, and once more where the pure lane may take only half of what that
 * cost, so that noise has to be added for it.  (With much noise the cost is
 * mostly the part that no noise lowers; then there must be no plan.)
 */
static void
judge_query(PriceAudit *audit, const NgramQuery *query, double share)
{
	NgramSplit split = {.threshold_share = share};
	NgramPlan plan;

	CHECK_FOR_INTERRUPTS();
	if (ngram_plan(query, split, &plan) != DP_OK)
		elog(ERROR, "no plan for epsilon %g, delta %g", query->epsilon, query->delta);
	audit->plans++;
	judge_promise(audit, &plan);
	audit->least_promise = Min(audit->least_promise,
							   price_delta(&plan, query->epsilon) / query->delta);
	run_plan(audit, &plan);
	judge_sigmas(audit, &plan);
	judge_zcdp(audit, query, share);

	split.division.pure_limit = plan.eps_pure / 2;
	if (ngram_plan(query, split, &plan) != DP_OK)
		return;
	audit->limited++;
	judge_promise(audit, &plan);
	audit->above_limit += !(plan.eps_pure <= split.division.pure_limit);
	audit->worst_limit = Max(audit->worst_limit, plan.eps_pure / split.division.pure_limit);
}

/* Every method but dpne-mr, and many values of everything that makes the price. */
static void
judge_all(PriceAudit *audit)
{
	static const double epsilons[] = {0.05, 1, 4, 12};
	static const double deltas[] = {1e-12, 1e-7, 1e-3};
	static const double ratios[] = {0.7, 1, 1.3};
	static const int lengths[] = {1, 2, 5};
	static const int bounds[] = {1, 100, 5000};
	NgramQuery query = {.spurious = 0.01};

	for (int e = 0; e < (int) lengthof(epsilons); e++)
		for (int d = 0; d < (int) lengthof(deltas); d++)
			for (int c = 0; c < (int) lengthof(ratios); c++)
				for (int l = 0; l < (int) lengthof(lengths); l++)
					for (int method = METHOD_DPNE; method <= METHOD_DPSU_SINGLE; method++)
					{
						query.epsilon = epsilons[e];
						query.delta = deltas[d];
						query.noise_ratio = ratios[c];
						query.max_length = query.length = lengths[l];
						query.method = method;
						for (int k = 1; k <= query.max_length; k++)
							query.bound[k] = bounds[(e + d + c + k) % lengthof(bounds)];
						/* the rounds of dpne-mr: audit_rounds_price.c */
						if (method != METHOD_DPNE_MR && (c == 1 || method == METHOD_DPNE))
							judge_query(audit, &query, (d + c) % 2 == 0 ? 0.1 : 0.5);
					}
}

/*
 * audit_price()
 *
 * For each plan: the noise that was drawn, level by level, costs no more than
 * the Gaussian lane is charged; the three lanes together keep (epsilon, delta);
 * thresholds hold what the delta lane is charged for.
 */
AUDIT_FUNCTION(audit_price)
{
	PriceAudit audit = {.world = world_create(6), .least_promise = 1, .zcdp_least = 1};

	verdicts_begin(fcinfo);
	for (int user = 0; user < 1500; user++)
	{
		world_user(audit.world);
		for (uint32 i = 0; i < 12; i++)
			world_word(audit.world, i % audit.world->words + 1);
	}
	noise_init(&audit.noise, false, 0);
	judge_all(&audit);
	noise_clear(&audit.noise);
	verdict(fcinfo, "sum of (2^20 / sigma)^2 over the levels drawn is at most the Gaussian lane",
			audit.undebited == 0, audit.worst_debit, 1, audit.plans);
	verdict(fcinfo, "each level draws with the sigma of its step, and with no other",
			audit.wrong_sigma == 0, audit.wrong_sigma, 0, audit.plans);
	verdict(fcinfo, "nearly all plans draw noise at each of their steps",
			audit.complete >= 0.9 * audit.plans, audit.complete, 0.9 * audit.plans, audit.plans);
	verdict(fcinfo, "the lanes together keep (epsilon, delta)", audit.broken_promise == 0,
			audit.worst_promise, 1, audit.plans);
	verdict(fcinfo, "and waste next to nothing of it", audit.least_promise > 0.999,
			audit.least_promise, 0.999, audit.plans);
	verdict(fcinfo, "by zCDP rho and delta keep it, too", audit.zcdp_broken == 0,
			audit.zcdp_worst, 1, audit.zcdp_plans);
	verdict(fcinfo, "and waste next to nothing", audit.zcdp_least > 0.999, audit.zcdp_least,
			0.999, audit.zcdp_plans);
	verdict(fcinfo, "the pure lane stays below a limit that binds",
			audit.limited >= audit.plans / 3 && audit.above_limit == 0, audit.worst_limit, 1,
			audit.limited);
	verdict(fcinfo, "the pure lane pays for the lattice", audit.low_slack == 0, audit.worst_slack,
			1, audit.plans);
	verdict(fcinfo, "thresholds keep what the delta lane pays for", audit.low_threshold == 0,
			audit.worst_threshold, 1, audit.plans);
	return (Datum) 0;
}

/* ------------------------------------------------------------------------
 * one user's contribution
 * ------------------------------------------------------------------------ */

typedef struct Contribution
{
	Extraction extraction;
	NgramPlan plan;
	Noise noise;
	ItemList items;
	dp_uint128 squares; /* of the weights found */
	Size found;
	int64 weight;
	bool uneven; /* not all the same */
	int64 *kept; /* by item: how often it was among the kept; may be NULL */
} Contribution;

static void
contribution_begin(Contribution *contribution)
{
	memset(contribution, 0, sizeof(*contribution));
	contribution->plan = world_plan(1, PRUNING_BOTH, 0.5);
	noise_init(&contribution->noise, false, 0);
	contribution->extraction.plan = &contribution->plan;
	contribution->extraction.noise = &contribution->noise;
	item_list_init(&contribution->items);
}

static void
note_weight(void *state, const HistogramEntry *entry)
{
	Contribution *contribution = state;

	contribution->uneven = contribution->uneven ||
						   (contribution->found > 0 && entry->weight != contribution->weight);
	contribution->weight = entry->weight;
	contribution->squares += (dp_uint128) entry->weight * entry->weight;
	contribution->found++;
	if (contribution->kept != NULL)
		contribution->kept[entry->key.key - 1]++;
}

/* One user's items 1 .. s, "copies" times over, through the engine. */
static void
contribute(Contribution *contribution, Size s, int copies, uint64 user)
{
	Histogram *histogram = histogram_create(SIZE_MAX / 4);

	extract_begin_user(&contribution->extraction, 1, &contribution->items, user);
	for (int copy = 0; copy < copies; copy++)
		for (Size i = 1; i <= s; i++)
			item_list_add(&contribution->items, i, dp_mix64(i, 7));
	contribution->squares = 0;
	contribution->found = 0;
	contribution->uneven = false;
	extract_bound(&contribution->items);
	extract_contribute(&contribution->items, histogram);
	histogram_consume(histogram, note_weight, contribution);
}

/*
 * audit_squares(up_to int, samples int)
 *
 * For every number s of n-grams up to up_to, and "samples" random larger ones:
 * the sum of a user's squared weights is at most 2^40, in integers, and with
 * weights larger by one unit it would be more; a bound keeps min(s, bound).
 */
AUDIT_FUNCTION(audit_squares)
{
	int up_to = PG_GETARG_INT32(0);
	int samples = PG_GETARG_INT32(1);
	const dp_uint128 one = (dp_uint128) DP_LATTICE_ONE * DP_LATTICE_ONE;
	Contribution contribution;
	double largest = 0;
	int64 too_much = 0;
	int64 too_little = 0;
	int64 wrong_number = 0;

	verdicts_begin(fcinfo);
	contribution_begin(&contribution);
	for (int i = 1; i <= up_to + samples; i++)
	{
		Size s = i <= up_to ? (Size) i : 1 + (Size) dp_uniform(&contribution.noise.random, 300000);
		Size bound = i % 3 == 0 ? 1 + dp_uniform(&contribution.noise.random, s) : DP_MAX_KEYS;
		Size kept = Min(s, bound);
		dp_uint128 next;

		CHECK_FOR_INTERRUPTS();
		contribution.plan.step[1].bound = bound;
		contribute(&contribution, s, 1 + i % 2, i);
		largest = Max(largest, (double) contribution.squares / (double) one);
		too_much += contribution.squares > one;
		next = (dp_uint128) contribution.weight + 1;
		too_little += contribution.uneven || next * next * kept <= one;
		wrong_number += contribution.found != kept;
	}
	verdict(fcinfo, "sum of a user's squared weights is at most 1", too_much == 0, largest, 1,
			up_to + samples);
	verdict(fcinfo, "weights are all the same and as large as that allows", too_little == 0,
			too_little, 0, up_to + samples);
	verdict(fcinfo, "min(s, bound) distinct n-grams count", wrong_number == 0, wrong_number, 0,
			up_to + samples);
	return (Datum) 0;
}

/*
 * audit_bounding(s int, bound int, runs bigint)
 *
 * Which of a user's n-grams count is chosen uniformly, and for each user anew.
 */
AUDIT_FUNCTION(audit_bounding)
{
	int s = PG_GETARG_INT32(0);
	int bound = PG_GETARG_INT32(1);
	int64 runs = PG_GETARG_INT64(2);
	double f = (double) bound / s;
	Contribution contribution;
	int64 *total = palloc0(s * sizeof(int64));
	int64 *kept = palloc(2 * s * sizeof(int64));
	int64 both = 0;
	double statistic = 0;

	verdicts_begin(fcinfo);
	contribution_begin(&contribution);
	contribution.plan.step[1].bound = bound;
	for (int64 run = 0; run < runs; run++)
	{
		CHECK_FOR_INTERRUPTS();
		memset(kept, 0, 2 * s * sizeof(int64));
		contribution.noise.sampling_key = dp_random_u64(&contribution.noise.random);
		for (int user = 0; user < 2; user++)
		{
			contribution.kept = kept + user * s;
			contribute(&contribution, s, 2, 41 + user);
		}
		for (int i = 0; i < s; i++)
			total[i] += kept[i];
		both += kept[0] * kept[s];
	}
	for (int i = 0; i < s; i++)
		statistic += (total[i] - runs * f) * (total[i] - runs * f) / (runs * f * (1 - f));
	/* the counts add up to a constant: off that, each varies by s/(s - 1) more than alone */
	verdict_p(fcinfo, "each n-gram of a user is as likely to count",
			  chi_square_tail(statistic * (s - 1) / s, s - 1), runs);
	verdict_p(fcinfo, "two users' choices are independent", binomial_p(runs, both, f * f), runs);
	return (Datum) 0;
}
