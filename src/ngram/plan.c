/*
 * plan.c
 *	  From (epsilon, delta) to noise, thresholds and price.
 *
 * A call is a composition of Gaussian steps, one a histogram, of l2
 * sensitivity 1 each (DPNE, Proposition 2.3), calibrated together
 * (dp_calibrate.c).  The set unions among them (step 1 of dpne, every step of the
 * dpsu methods) add the probability delta_t that an n-gram of one user alone passes
 * a threshold, so a given share of delta is set apart for delta_t and the tail.
 *
 * The steps of a method:
 *	 dpne		 T steps, one a length; only the first is a set union; sigma_k = c sigma_{k-1}
 *	 dpsu-all	 one set union over all lengths, T Delta_0 n-grams a user
 *	 dpsu-even	 T set unions of equal sigma, which share delta_t in proportion to length
 *	 dpsu-single one set union for one length
 */
#include "postgres.h"

#include <math.h>

#include "common/dp_audit.h"
#include "common/dp_calibrate.h"
#include "common/dp_gaussian.h"
#include "ngram/plan.h"

/*
 * Level 1 of dpne-mr ends early when a round adds less than this share to S_1; and what
 * it gets at most where the schedule is adaptive: of the whole, or of an equal part of
 * it where there are few lengths.
 */
#define LITTLE_GAIN 0.02
#define FIRST_SHARE_ADAPTIVE 0.12
#define FIRST_OF_EQUAL_ADAPTIVE 0.4

/* The least part of a level's mu that a round may have, and the largest mu of all. */
#define LEAST_PART (1.0 / 64)
#define LARGEST_MU 512.0

/* The method that SQL calls by this name; false if there is none. */
bool
ngram_method_by_name(const char *name, NgramMethod *method)
{
	static const char *const names[] = {
		[METHOD_DPNE] = "dpne",
		[METHOD_DPNE_MR] = "dpne-mr",
		[METHOD_DPSU_ALL] = "dpsu-all",
		[METHOD_DPSU_EVEN] = "dpsu-even",
		[METHOD_DPSU_SINGLE] = "dpsu-single",
	};

	for (int i = 0; i < (int) lengthof(names); i++)
		if (strcmp(name, names[i]) == 0)
		{
			*method = (NgramMethod) i;
			return true;
		}
	return false;
}

/* Whether lengths come one by one, each from the one before. */
bool
ngram_by_levels(NgramMethod method)
{
	return method == METHOD_DPNE || method == METHOD_DPNE_MR;
}

/* Likewise a schedule of dpne-mr. */
bool
ngram_schedule_by_name(const char *name, NgramSchedule *schedule)
{
	*schedule = strcmp(name, "adaptive") == 0 ? SCHEDULE_ADAPTIVE : SCHEDULE_BALANCED;
	return *schedule == SCHEDULE_ADAPTIVE || strcmp(name, "balanced") == 0;
}

/* Likewise what spurious n-grams are a share of. */
bool
ngram_spurious_of_by_name(const char *name, SpuriousOf *of)
{
	*of = strcmp(name, "forecast") == 0 ? SPURIOUS_OF_FORECAST : SPURIOUS_OF_PREVIOUS;
	return *of == SPURIOUS_OF_FORECAST || strcmp(name, "previous") == 0;
}

/* Likewise a pruning. */
bool
ngram_pruning_by_name(const char *name, NgramPruning *pruning)
{
	*pruning = strcmp(name, "single") == 0 ? PRUNING_SINGLE : PRUNING_BOTH;
	return *pruning == PRUNING_SINGLE || strcmp(name, "both") == 0;
}

/* Which lengths each step extracts, and each step's bound. */
static void
lay_out_steps(const NgramQuery *query, NgramPlan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan->query = *query;
	if (query->method == METHOD_DPSU_ALL)
	{
		plan->nsteps = 1;
		plan->step[1].min_length = 1;
		plan->step[1].max_length = query->max_length;
		for (int k = 1; k <= query->max_length; k++)
			plan->step[1].bound += query->bound[k];
		return;
	}
	plan->nsteps = query->method == METHOD_DPSU_SINGLE ? 1 : query->max_length;
	for (int i = 1; i <= plan->nsteps; i++)
	{
		int k = query->method == METHOD_DPSU_SINGLE ? query->length : i;

		plan->step[i].min_length = plan->step[i].max_length = k;
		plan->step[i].bound = query->bound[k];
	}
}

/* The share of step i in mu: mu_i / mu, by sigma_i = c sigma_{i-1}. */
static double
mu_share(const NgramPlan *plan, int i)
{
	double c = plan->query.method == METHOD_DPNE ? plan->query.noise_ratio : 1.0;
	double log_sum = 0;
	double largest = -log(c) * (c < 1 ? plan->nsteps : 1);

	for (int j = 1; j <= plan->nsteps; j++)
		log_sum += exp(2 * (-log(c) * j - largest));
	return exp(-log(c) * i - largest) / sqrt(log_sum);
}

/* The steps as the calibration sees them. */
static void
describe_steps(const NgramPlan *plan, DpStep *steps)
{
	for (int i = 1; i <= plan->nsteps; i++)
		steps[i - 1] = (DpStep){
			.share = mu_share(plan, i),
			.keys = plan->step[i].bound,
			.decided = plan->query.method == METHOD_DPNE && i > 1};
}

static DpStatus
set_sigmas(NgramPlan *plan, const DpStep *steps, double mu)
{
	DpStatus status = DP_OK;

	for (int i = 1; i <= plan->nsteps && status == DP_OK; i++)
		status = dp_step_sigma(mu * steps[i - 1].share, &plan->step[i].sigma);
	return status;
}

/*
 * Step i's part of the delta of the call's set unions.  dpsu-even gives it in
 * proportion to the length: there are many more long n-grams than short ones,
 * so each is rarer and nearer to the threshold.
 */
static double
delta_part(const NgramPlan *plan, int i)
{
	if (plan->query.method == METHOD_DPSU_EVEN)
		return 2.0 * i / (plan->nsteps * (plan->nsteps + 1.0));
	return 1.0;
}

static DpStatus
set_thresholds(NgramPlan *plan, double delta_t)
{
	int unions = plan->query.method == METHOD_DPNE ? 1 : plan->nsteps;

	for (int i = 1; i <= unions; i++)
	{
		DpStatus status = dp_step_threshold(plan->step[i].sigma, delta_t * delta_part(plan, i),
											plan->step[i].bound, &plan->step[i].threshold);

		if (status != DP_OK)
			return status;
	}
	return DP_OK;
}

/* The price of the noise that will really be drawn. */
static void
set_price(NgramPlan *plan, const DpStep *steps, double delta_add)
{
	int64 sigma[NGRAM_MAX_LENGTH];
	int priced = DP_SABOTAGED(SABOTAGE_UNDEBITED) ? plan->nsteps - 1 : plan->nsteps;
	DpStepsPrice price;

	for (int i = 1; i <= priced; i++)
	{
		sigma[i - 1] = plan->step[i].sigma;
		plan->step[i].mu2 = dp_step_mu2(plan->step[i].sigma);
	}
	price = dp_steps_price(steps, sigma, priced);
	plan->mu2 = price.mu2;
	plan->eps_pure = price.eps_pure;
	plan->tail_rho = price.tail_rho;
	plan->delta_add = delta_add;
}

/*
 * The rounds of dpne-mr as the calibration sees them: Gaussian releases whose noise
 * is chosen on the way, of mu^2 in all.  Beside each level's rounds, one computed
 * probability decides what nobody has.
 */
static DpStep
describe_rounds(const NgramPlan *plan)
{
	const NgramQuery *query = &plan->query;
	DpStep whole = {.share = 1,
					.rounds = WORD_ROUNDS_MAX + query->rounds * (plan->nsteps - 1),
					.decided = plan->nsteps - 1};

	for (int i = 1; i <= plan->nsteps; i++)
		whole.keys = Max(whole.keys, plan->step[i].bound);
	return whole;
}

/* Where a ratio divides the levels' noise, the least must be noise that can be drawn. */
static bool
ratio_is_possible(const NgramPlan *plan)
{
	const NgramQuery *query = &plan->query;
	double least = pow(Min(query->noise_ratio, 1 / query->noise_ratio), 2.0 * plan->nsteps);
	int64 sigma;

	return query->schedule != SCHEDULE_RATIO ||
		   dp_step_sigma(sqrt(plan->mu2 * least) * LEAST_PART, &sigma) == DP_OK;
}

/*
 * What level 1 of dpne-mr may spend of a call's mu^2: as much as in dpne, where c = 1; but
 * where the sum over all lengths counts more than each, not more than is good for it.
 */
double
ngram_first_mu2(const NgramPlan *plan)
{
	double share = 1.0 / plan->nsteps;

	if (plan->query.schedule == SCHEDULE_ADAPTIVE && plan->nsteps > 1)
		share = Min(share, Max(FIRST_SHARE_ADAPTIVE, FIRST_OF_EQUAL_ADAPTIVE / plan->nsteps));
	return plan->mu2 / DP_ROUND_UP * share;
}

/*
 * dpne-mr: the price is fixed, and so is level 1; the other levels share what is left
 * by what the rounds before them released (level_rounds.c).
 */
static DpStatus
plan_rounds(NgramPlan *plan, NgramSplit split)
{
	const NgramQuery *query = &plan->query;
	DpStep whole = describe_rounds(plan);
	double delta_add = query->delta * split.threshold_share;
	double delta_t = delta_add - dp_steps_tail(&whole, 1);
	double mu;
	int64 sigma;
	DpStatus status = delta_t > 0 ? DP_OK : DP_ERR_RANGE;
	DpStepsPrice price;

	if (status == DP_OK)
		status = dp_calibrate(&whole, 1, query->epsilon, query->delta - delta_add,
							  split.division, &mu);
	/* what is debited is the price of one integer sigma, a hair below that of mu */
	if (status == DP_OK)
		status = mu <= LARGEST_MU ? dp_step_sigma(mu, &sigma) : DP_ERR_RANGE;
	if (status != DP_OK)
		return status;
	price = dp_steps_price(&whole, &sigma, 1);
	plan->mu2 = price.mu2;
	plan->eps_pure = price.eps_pure;
	plan->tail_rho = price.tail_rho;
	plan->delta_add = delta_add;
	if (!ratio_is_possible(plan))
		return DP_ERR_RANGE;
	return word_rounds_plan(WORD_ROUNDS_CUMULATIVE, ngram_first_mu2(plan),
							delta_t * (1 - 1e-12), plan->step[1].bound,
							plan->nsteps > 1 ? LITTLE_GAIN : 0, &plan->words);
}

/*
 * Plan a query under a division of its (epsilon, delta).
 *
 * The query's numbers must be in their domains.  DP_ERR_RANGE: epsilon or
 * delta is too small for the query.
 */
DpStatus
ngram_plan(const NgramQuery *query, NgramSplit split, NgramPlan *plan)
{
	DpStep steps[NGRAM_MAX_LENGTH];
	double delta_add = query->delta * split.threshold_share;
	double delta_t;
	double mu;
	DpStatus status;

	lay_out_steps(query, plan);
	if (query->method == METHOD_DPNE_MR)
		return plan_rounds(plan, split);
	describe_steps(plan, steps);
	delta_t = delta_add - dp_steps_tail(steps, plan->nsteps);
	if (!(delta_t > 0))
		return DP_ERR_RANGE;
	status = dp_calibrate(steps, plan->nsteps, query->epsilon, query->delta - delta_add,
						  split.division, &mu);
	if (status == DP_OK)
		status = set_sigmas(plan, steps, mu);
	if (status == DP_OK)
		status = set_thresholds(plan, delta_t * (1 - 1e-12));
	if (status == DP_OK)
		set_price(plan, steps, delta_add);
	return status;
}
