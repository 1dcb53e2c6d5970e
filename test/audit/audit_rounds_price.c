/*
 * audit_rounds_price.c
 *	  What a call of dpne-mr pays for against what it does: every sigma that any round
 *	  drew with, what the call says it used, and the promise behind the price.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "audit_rounds.h"

typedef struct RoundsPrice
{
	World *world;
	Noise noise;
	int64 plans;
	int64 complete;			/* all of whose levels drew noise */
	int64 rounds;			/* that drew noise */
	int64 undebited;		/* sum of (2^m / sigma)^2 above mu2 */
	int64 misreported;		/* a level said to have used less, or much more */
	int64 changed;			/* a round that drew with two sigmas */
	int64 broken_promise;	/* price above (epsilon, delta) */
	int64 low_threshold;	/* thresholds that delta_add doesn't pay for */
	int64 low_slack;		/* pure lane below what the lattice costs */
	double worst_debit;		/* largest sum / mu2 */
	double least_debit;		/* and smallest, of complete plans */
	double worst_report;	/* largest sum of a level / what it says */
	double worst_promise;	/* largest delta of the price / delta */
	double least_promise;	/* and smallest */
	double worst_threshold; /* largest probability of a novel word / delta_add */
	double worst_slack;		/* largest cost of the lattice / pure lane */
} RoundsPrice;

/* (2^m / sigma)^2 */
static long double
square_mu(int64 sigma)
{
	long double mu = (long double) DP_LATTICE_ONE / sigma;

	return mu * mu;
}

/* What a level's rounds drew with in all; 0 if it had none. */
static long double
level_drawn(RoundsPrice *price, int level, const NgramPlan *plan)
{
	long double sum = 0;

	for (int j = 0; j < NGRAM_MAX_ROUNDS; j++)
	{
		int64 sigma = audit_log_sigma(NOISE_ROUND(level, j));

		if (sigma == 0)
			continue;
		sum += square_mu(sigma);
		price->rounds++;
	}
	return sum;
}

static void
judge_noise(RoundsPrice *price, const NgramPlan *plan, const WorldRun *run)
{
	long double sum = 0;
	bool complete = true;

	for (int k = 1; k <= NGRAM_MAX_LENGTH; k++)
	{
		long double drawn = level_drawn(price, k, plan);

		sum += drawn;
		complete = complete && (k > plan->nsteps || drawn > 0);
		if (drawn == 0)
			continue;
		price->misreported += !(drawn <= run->mu2[k] && run->mu2[k] <= drawn * (1 + 1e-9L));
		price->worst_report = Max(price->worst_report, (double) (drawn / run->mu2[k]));
	}
	price->changed += audit_log_changed();
	price->complete += complete;
	price->undebited += !(sum <= plan->mu2);
	price->worst_debit = Max(price->worst_debit, (double) (sum / plan->mu2));
	if (complete)
		price->least_debit = Min(price->least_debit, (double) (sum / plan->mu2));
}

/* One run in which every word and, where it can, every level has something. */
static void
run_plan(RoundsPrice *price, const NgramPlan *plan)
{
	NgramPlan open = *plan;
	WorldRun run = {.memory = WORLD_MEMORY};

	for (int j = 0; j < open.words.n; j++)
		open.words.round[j].threshold = j + 1 == open.words.n ? -(INT64CONST(1) << 60) :
																INT64CONST(1) << 60;
	open.words.stop_below = 0;
	audit_log_clear();
	world_run_within(price->world, &open, &price->noise, NULL, NULL, NULL, &run);
	judge_noise(price, plan, &run);
}

/*
 * The largest probability, over t, that any of t words of one user alone passes in any
 * round: each weighs at most 2^m / sqrt t in every round.
 */
static double
novel_probability(const WordRounds *words)
{
	double worst = 0;

	for (int64 t = 1; t <= words->bound; t++)
	{
		int64 weight = (int64) floor(DP_LATTICE_ONE / sqrt((double) t));
		double any = 0;
		long double variance = 0;
		int64 total = 0;

		for (int j = 0; j < words->n; j++)
		{
			const WordRound *round = &words->round[j];
			long double part = (long double) round->coefficient * round->sigma;
			long double one;

			variance += part * part;
			total += round->coefficient;
			one = normal_tail((round->threshold - total * weight + 0.5L) / sqrtl(variance));
			any += (double) -expm1l(t * log1pl(-one));
		}
		worst = Max(worst, any);
	}
	return worst;
}

/* What rounded noise in place of discrete noise costs (doc/privacy.md, "Rounds: dpne-mr"). */
static double
rounds_slack(const NgramPlan *plan)
{
	double keys = DP_MAX_KEYS;
	double mu = sqrt(plan->mu2);
	double one = mu * mu * ((12 + mu) * (12 + mu) + 1) / 24 / DP_LATTICE_ONE / DP_LATTICE_ONE;

	if (plan->nsteps == 1)
		keys = (double) plan->step[1].bound;
	return keys * (one + 1e-13 * (plan->nsteps - 1));
}

static void
judge_plan(RoundsPrice *price, const NgramPlan *plan, bool zcdp)
{
	const NgramQuery *query = &plan->query;
	int rounds = plan->words.n + query->rounds * (plan->nsteps - 1);
	double keys = plan->nsteps == 1 ? (double) plan->step[1].bound : (double) DP_MAX_KEYS;
	double novel = novel_probability(&plan->words) + keys * rounds * 2 * (double) normal_tail(12);
	double promise;

	if (zcdp)
		promise = rho_delta(plan->mu2 / 2 + plan->tail_rho, query->epsilon) + plan->delta_add;
	else
	{
		double slack = rounds_slack(plan);

		promise = lanes_delta(plan->mu2, plan->eps_pure, plan->delta_add, query->epsilon);
		price->low_slack += !(slack <= plan->eps_pure);
		price->worst_slack = Max(price->worst_slack, slack / plan->eps_pure);
	}
	promise /= query->delta;
	price->plans++;
	price->broken_promise += !(promise <= 1);
	price->worst_promise = Max(price->worst_promise, promise);
	price->least_promise = Min(price->least_promise, promise);
	price->low_threshold += !(novel <= plan->delta_add);
	price->worst_threshold = Max(price->worst_threshold, novel / plan->delta_add);
	run_plan(price, plan);
}

static void
judge_query(RoundsPrice *price, const NgramQuery *query, double share)
{
	CHECK_FOR_INTERRUPTS();
	for (int zcdp = 0; zcdp < 2; zcdp++)
	{
		NgramSplit split = {.threshold_share = share, .division.zcdp = zcdp};
		NgramPlan plan;

		if (ngram_plan(query, split, &plan) != DP_OK)
			elog(ERROR, "no plan for epsilon %g, delta %g", query->epsilon, query->delta);
		judge_plan(price, &plan, zcdp);
	}
}

/* Every schedule, and many values of everything that makes the price. */
static void
judge_all(RoundsPrice *price)
{
	static const double epsilons[] = {0.05, 1, 4, 12};
	static const double deltas[] = {1e-12, 1e-7, 1e-3};
	static const int lengths[] = {1, 2, 5};
	static const char *const schedules[] = {"balanced", "adaptive", "0.8", "1.2"};
	static const int rounds[] = {10, 1, 16, 2, 4};
	static const int bounds[] = {300, 1, 700};
	NgramQuery query = {.method = METHOD_DPNE_MR, .spurious = 1};
	int n = 0;

	for (int k = 2; k <= NGRAM_MAX_LENGTH; k++)
		query.bound[k] = DP_MAX_KEYS;
	for (int e = 0; e < (int) lengthof(epsilons); e++)
		for (int d = 0; d < (int) lengthof(deltas); d++)
			for (int l = 0; l < (int) lengthof(lengths); l++)
				for (int s = 0; s < (int) lengthof(schedules); s++, n++)
				{
					query.epsilon = epsilons[e];
					query.delta = deltas[d];
					query.max_length = lengths[l];
					query.schedule = audit_schedule(schedules[s], &query.noise_ratio);
					query.rounds = rounds[n % lengthof(rounds)];
					query.bound[1] = bounds[n % lengthof(bounds)];
					judge_query(price, &query, n % 2 == 0 ? 0.1 : 0.5);
				}
}

/* Few words, so that all of T = 5 has n-grams, and frequent ones. */
static void
fill_world(World *world)
{
	for (int user = 0; user < 400; user++)
	{
		world_user(world);
		for (uint32 i = 0; i < 12; i++)
			world_word(world, (user + i * (1 + user % 2)) % world->words + 1);
	}
}

/*
 * audit_rounds_price()
 *
 * For each plan: the noise that was drawn, round by round, costs no more than the
 * Gaussian lane is charged, and what the levels say they used; the lanes together keep
 * (epsilon, delta); the thresholds of level 1 hold what the delta lane is charged for.
 */
AUDIT_FUNCTION(audit_rounds_price)
{
	RoundsPrice price = {.world = world_create(6), .least_debit = 1, .least_promise = 1};

	verdicts_begin(fcinfo);
	fill_world(price.world);
	noise_init(&price.noise, false, 0);
	judge_all(&price);
	noise_clear(&price.noise);
	verdict(fcinfo, "sum of (2^20 / sigma)^2 over the rounds drawn is at most the Gaussian lane",
			price.undebited == 0, price.worst_debit, 1, price.rounds);
	verdict(fcinfo, "and no more than each level says it used", price.misreported == 0,
			price.worst_report, 1, price.rounds);
	verdict(fcinfo, "each round draws with one sigma", price.changed == 0, price.changed, 0,
			price.rounds);
	verdict(fcinfo, "most calls draw noise for each of their levels",
			price.complete >= 0.8 * price.plans, price.complete, 0.8 * price.plans, price.plans);
	verdict(fcinfo, "and then leave next to nothing of the Gaussian lane",
			price.least_debit > 0.999, price.least_debit, 0.999, price.complete);
	verdict(fcinfo, "the lanes keep (epsilon, delta), in gdp and in zcdp",
			price.broken_promise == 0, price.worst_promise, 1, price.plans);
	verdict(fcinfo, "and waste next to nothing of it", price.least_promise > 0.999,
			price.least_promise, 0.999, price.plans);
	verdict(fcinfo, "the pure lane pays for the lattice", price.low_slack == 0,
			price.worst_slack, 1, price.plans / 2);
	verdict(fcinfo, "the thresholds of level 1 keep what the delta lane pays for",
			price.low_threshold == 0, price.worst_threshold, 1, price.plans);
	return (Datum) 0;
}
