/*
 * rappor_em.c
 *	  A-RAPPOR's second step: which n-grams of two positions occur together.
 *
 * The joint distribution over the n-grams kept at two positions is the likeliest one, found
 * by expectation maximisation (Fanti et al. 2016, section 3.1):
 *
 *		P(a, b) <- P(a, b) / n  sum over reports of L(a) L(b) / T,
 *		T = sum over a, b of P(a, b) L(a) L(b),
 *
 * L(a) being the probability of what was reported of the first position if a stands there.
 * Besides the n-grams kept there is "another one", whose bits may be any, so that L is the
 * mean over all choices of h bits, and the users who have no term, at neither position.
 *
 * Only bits that were reported matter.  With m of a value's h bits in the report, L is
 * proportional to rho^m, rho = (q* / p*) ((1 - p*) / (1 - q*)), and with e(a) = rho^m - 1
 *
 *		L(a) L(b) = 1 + e(a) + e(b) + e(a) e(b),
 *
 * where e is 0 for all values none of whose bits were reported, which are most: sums over
 * all cells become sums over the few, plus those of rows, columns and the whole.
 *
 * Thresholds.  A cell's standard deviation is computed from the observed information, as
 * if all other cells were known: sum over reports of (L(a) L(b) / T - 1)^2.  The public
 * code computes one, too, and then puts .04 in its place (decode_ngrams.R).
 */
#include "common/dp_base.h"

#include <math.h>

#include "local/rappor_parts.h"

/* Iterations end when no log-likelihood is higher by this; chance alone moves it by 1. */
#define CONVERGED 1.0

/* The largest step, in plain iterations. */
#define MOST_POWER 1024
#define MOST_CHANGE 8.0

/* Of the users, at least so many are taken to have another n-gram, or none, at first. */
#define LEAST_SHARE 0.01

/* What was reported of a position: the values whose likelihood it changes. */
typedef struct Side
{
	int n;
	uint16 cell[RAPPOR_MAX_CANDIDATES + 1];
	double ratio[RAPPOR_MAX_CANDIDATES + 1]; /* e of each */
} Side;

typedef struct Answer
{
	uint64 first;
	uint64 second;
	int cohort;
} Answer;

/* The joint distribution of two positions; the last row and column are "another one". */
typedef struct Joint
{
	const RapporPlan *plan;
	const RapporPosition *first;
	const RapporPosition *second;
	int64 n; /* answers */
	Answer *answer;
	int rows;
	int columns;
	double *cell;
	double none; /* no term */
	double *row; /* sums */
	double *column;
	double total;						/* of all cells */
	double gain[BLOOM_MAX_HASHES + 1];	/* rho^m - 1 */
	double another[BLOOM_MAX_BITS + 1]; /* e of another value, by bits reported */
	double none_ratio;					/* likelihood of no term at both positions */
	uint8 times[RAPPOR_MAX_CANDIDATES]; /* all 0 between calls */
} Joint;

/* Sums over answers of (L L / T)^power, without the factor that rows and columns share. */
typedef struct Sums
{
	double all;
	double *row;
	double *column;
	double *cell;
	double none;
	double gained; /* log-likelihood, the answers' common factors left out */
} Sums;

/* ---- likelihoods ---- */

/* C(n, m) as a double. */
static double
choose(int n, int m)
{
	double ways = 1;

	for (int i = 0; i < m; i++)
		ways *= (double) (n - i) / (i + 1);
	return n < m ? 0 : ways;
}

/* The tables of a joint distribution: what a number of bits makes of a likelihood. */
static void
fill_ratios(Joint *joint)
{
	const Bloom *bloom = &joint->plan->bloom;
	double zero_ratio = (1 - bloom->one) / (1 - bloom->zero);
	double rho = bloom->one / bloom->zero / zero_ratio;

	for (int m = 0; m <= bloom->hashes; m++)
		joint->gain[m] = pow(rho, m) - 1;
	for (int ones = 0; ones <= bloom->bits; ones++)
	{
		double mean = 0;

		for (int m = 0; m <= bloom->hashes; m++)
			mean += choose(ones, m) * choose(bloom->bits - ones, bloom->hashes - m) *
					joint->gain[m];
		joint->another[ones] = mean / choose(bloom->bits, bloom->hashes);
	}
	joint->none_ratio = pow(zero_ratio, -2 * bloom->hashes);
}

/* The values of a position of which bits were reported, and their e. */
static void
fill_side(Joint *joint, const RapporPosition *kept, int cohort, uint64 bits, Side *side)
{
	const int32 *start = kept->start + cohort * joint->plan->query.bits;

	side->n = 0;
	for (uint64 left = bits; left != 0; left &= left - 1)
	{
		int bit = __builtin_ctzll(left);

		for (int32 i = start[bit]; i < start[bit + 1]; i++)
			if (joint->times[kept->holder[i]]++ == 0)
				side->cell[side->n++] = kept->holder[i];
	}
	for (int i = 0; i < side->n; i++)
	{
		side->ratio[i] = joint->gain[joint->times[side->cell[i]]];
		joint->times[side->cell[i]] = 0;
	}
	side->cell[side->n] = kept->n;
	side->ratio[side->n++] = joint->another[__builtin_popcountll(bits)];
}

/* T of one answer. */
static double
likelihood(const Joint *joint, const Side *x, const Side *y)
{
	double sum = joint->total + joint->none * joint->none_ratio;

	for (int j = 0; j < y->n; j++)
		sum += y->ratio[j] * joint->column[y->cell[j]];
	for (int i = 0; i < x->n; i++)
	{
		const double *cell = joint->cell + x->cell[i] * joint->columns;
		double inner = 0;

		for (int j = 0; j < y->n; j++)
			inner += y->ratio[j] * cell[y->cell[j]];
		sum += x->ratio[i] * (joint->row[x->cell[i]] + inner);
	}
	return sum;
}

/* Adds an answer with a weight, 1/T or its square, to the sums. */
static void
add_answer(const Joint *joint, const Side *x, const Side *y, double weight, double none,
		   Sums *sums)
{
	sums->all += weight;
	sums->none += weight * none;
	for (int j = 0; j < y->n; j++)
		sums->column[y->cell[j]] += weight * y->ratio[j];
	for (int i = 0; i < x->n; i++)
	{
		double *cell = sums->cell + x->cell[i] * joint->columns;
		double scaled = weight * x->ratio[i];

		sums->row[x->cell[i]] += scaled;
		for (int j = 0; j < y->n; j++)
			cell[y->cell[j]] += scaled * y->ratio[j];
	}
}

/* e of the squared likelihood. */
static void
square(Side *side)
{
	for (int i = 0; i < side->n; i++)
		side->ratio[i] *= side->ratio[i] + 2;
}

static Sums
new_sums(const Joint *joint)
{
	return (Sums){.row = palloc0(joint->rows * sizeof(double)),
				  .column = palloc0(joint->columns * sizeof(double)),
				  .cell = palloc0((int64) joint->rows * joint->columns * sizeof(double))};
}

static void
free_sums(Sums *sums)
{
	pfree(sums->row);
	pfree(sums->column);
	pfree(sums->cell);
}

/* One pass over the answers; power 1 or 2. */
static void
pass(Joint *joint, int power, Sums *sums)
{
	Side x;
	Side y;

	*sums = new_sums(joint);
	for (int64 i = 0; i < joint->n; i++)
	{
		const Answer *answer = &joint->answer[i];
		double inverse;

		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		fill_side(joint, joint->first, answer->cohort, answer->first, &x);
		fill_side(joint, joint->second, answer->cohort, answer->second, &y);
		inverse = 1 / likelihood(joint, &x, &y);
		sums->gained -= log(inverse);
		if (power == 1)
		{
			add_answer(joint, &x, &y, inverse, joint->none_ratio, sums);
			continue;
		}
		square(&x);
		square(&y);
		add_answer(joint, &x, &y, inverse * inverse, joint->none_ratio * joint->none_ratio,
				   sums);
	}
}

/* The sum over answers of (L(a) L(b) / T)^power. */
static double
sum_at(const Joint *joint, const Sums *sums, int a, int b)
{
	return sums->all + sums->row[a] + sums->column[b] + sums->cell[a * joint->columns + b];
}

/* ---- the distribution ---- */

/* Is the n-gram SYMBOL_END throughout, or does it hold one? */
static void
gram_ends(const RapporPlan *plan, uint32 gram, bool *blank, bool *ends)
{
	uint16 symbol[RAPPOR_MAX_GRAM];
	int length = rappor_gram_symbols(plan, gram, symbol);

	*blank = length == 0;
	*ends = length < plan->query.gram;
}

/* Can they stand in one term?  What follows SYMBOL_END is blank. */
static bool
possible(const Joint *joint, int a, int b)
{
	bool blank;
	bool ends = false;

	if (a < joint->first->n)
		gram_ends(joint->plan, joint->first->gram[a], &blank, &ends);
	if (!ends)
		return true;
	if (b < joint->second->n)
		gram_ends(joint->plan, joint->second->gram[b], &blank, &ends);
	return b < joint->second->n && blank;
}

/* Sums of rows, columns and all. */
static void
add_up(Joint *joint)
{
	memset(joint->row, 0, joint->rows * sizeof(double));
	memset(joint->column, 0, joint->columns * sizeof(double));
	joint->total = 0;
	for (int a = 0; a < joint->rows; a++)
		for (int b = 0; b < joint->columns; b++)
		{
			double p = joint->cell[a * joint->columns + b];

			joint->row[a] += p;
			joint->column[b] += p;
			joint->total += p;
		}
}

/* The share of a row or column at first, as its position alone says. */
static double
first_share(const RapporPosition *kept, int i)
{
	double rest = kept->holders;

	if (i < kept->n)
		return kept->share[i];
	for (int j = 0; j < kept->n; j++)
		rest -= kept->share[j];
	return Max(rest, LEAST_SHARE);
}

/* Where iterations start: the positions independent, as far as that is possible. */
static void
start(Joint *joint)
{
	double none = Max(LEAST_SHARE, 1 - joint->first->holders);

	for (int a = 0; a < joint->rows; a++)
		for (int b = 0; b < joint->columns; b++)
		{
			double share = first_share(joint->first, a) * first_share(joint->second, b);

			joint->cell[a * joint->columns + b] = possible(joint, a, b) ? share : 0;
		}
	add_up(joint);
	for (int i = 0; i < joint->rows * joint->columns; i++)
		joint->cell[i] *= (1 - none) / joint->total;
	joint->none = none;
	add_up(joint);
}

/* A distribution, its log-likelihood, and the factors by which an iteration changes it. */
typedef struct Step
{
	double *cell;
	double *factor; /* of cells: their sums over the answers, by the number of answers */
	double none;
	double none_factor;
	double gained; /* log-likelihood */
} Step;

/* The present distribution as a step's beginning, given its sums. */
static void
begin_step(const Joint *joint, const Sums *sums, Step *step)
{
	memcpy(step->cell, joint->cell, (int64) joint->rows * joint->columns * sizeof(double));
	step->none = joint->none;
	step->none_factor = sums->none / joint->n;
	step->gained = sums->gained;
	for (int a = 0; a < joint->rows; a++)
		for (int b = 0; b < joint->columns; b++)
			step->factor[a * joint->columns + b] = sum_at(joint, sums, a, b) / joint->n;
}

/* A factor to some power; in larger steps than the plain one, within bounds. */
static double
powered(double factor, double power)
{
	double result = pow(factor, power);

	return power <= 1 ? result : Max(1 / MOST_CHANGE, Min(MOST_CHANGE, result));
}

/* From a step's beginning onwards, the factors to some power; 1 is the plain iteration. */
static void
take_step(Joint *joint, const Step *step, double power)
{
	int cells = joint->rows * joint->columns;

	for (int i = 0; i < cells; i++)
		joint->cell[i] = step->cell[i] * powered(step->factor[i], power);
	joint->none = step->none * powered(step->none_factor, power);
	add_up(joint);
	for (int i = 0; i < cells; i++)
		joint->cell[i] /= joint->total + joint->none;
	joint->none /= joint->total + joint->none;
	add_up(joint);
}

/*
 * What any distribution's log-likelihood can exceed that of a step's beginning by: it is
 * concave, so by the number of answers times what the largest factor is above 1, at most.
 */
static double
could_gain(const Joint *joint, const Step *step)
{
	double most = step->none_factor;

	for (int a = 0; a < joint->rows; a++)
		for (int b = 0; b < joint->columns; b++)
			if (step->cell[a * joint->columns + b] > 0)
				most = Max(most, step->factor[a * joint->columns + b]);
	return (double) joint->n * (most - 1);
}

/*
 * Iterates until the likelihood rises no more.  Where answers say little, plain iterations
 * need thousands of steps.  Larger ones are tried, twice as large each time, and if the
 * likelihood falls the plain one is taken instead (Salakhutdinov, Roweis, "Adaptive
 * overrelaxed bound optimization methods", ICML 2003), which cannot lower it.
 */
static void
maximise(Joint *joint)
{
	Step step = {.cell = palloc((int64) joint->rows * joint->columns * sizeof(double)),
				 .factor = palloc((int64) joint->rows * joint->columns * sizeof(double)),
				 .gained = -HUGE_VAL};
	double power = 1;
	bool converged = false;

	for (int i = 0; i < joint->plan->query.iterations && !converged; i++)
	{
		Sums sums;
		double gain;

		CHECK_FOR_INTERRUPTS();
		pass(joint, 1, &sums);
		gain = sums.gained - step.gained;
		if (gain >= 0)
			begin_step(joint, &sums, &step);
		free_sums(&sums);
		converged = gain >= 0 ? could_gain(joint, &step) < CONVERGED : power == 1;
		/* what is no number has overstepped, too */
		power = gain >= 0 ? Min(power * 2, MOST_POWER) : Max(power / 8, 1);
		take_step(joint, &step, power);
	}
	take_step(joint, &step, 0);
	pfree(step.cell);
	pfree(step.factor);
}

/* Those of a pair's reports. */
static void
take_answers(Joint *joint, const RapporReport *reports, int64 n, int pair)
{
	int64 members = 0;

	for (int64 i = 0; i < n; i++)
		members += rappor_pair(joint->plan, reports[i].place) == pair;
	joint->answer = local_alloc_huge(Max(members, 1) * sizeof(Answer));
	for (int64 i = 0; i < n; i++)
	{
		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (rappor_pair(joint->plan, reports[i].place) != pair)
			continue;
		joint->answer[joint->n++] =
			(Answer){.first = reports[i].bits[0],
					 .second = reports[i].bits[1],
					 .cohort = rappor_cohort(joint->plan, reports[i].place)};
	}
}

static Joint *
new_joint(const RapporPlan *plan, const RapporReport *reports, int64 n, int pair,
		  const RapporPosition *positions)
{
	Joint *joint = palloc0(sizeof(Joint));
	int first;
	int second;

	rappor_pair_positions(plan, pair, &first, &second);
	joint->plan = plan;
	joint->first = &positions[first];
	joint->second = &positions[second];
	joint->rows = joint->first->n + 1;
	joint->columns = joint->second->n + 1;
	joint->cell = palloc((int64) joint->rows * joint->columns * sizeof(double));
	joint->row = palloc(joint->rows * sizeof(double));
	joint->column = palloc(joint->columns * sizeof(double));
	fill_ratios(joint);
	take_answers(joint, reports, n, pair);
	return joint;
}

static void
free_joint(Joint *joint)
{
	pfree(joint->answer);
	pfree(joint->cell);
	pfree(joint->row);
	pfree(joint->column);
	pfree(joint);
}

/* The cells that a pair's iterations update at most, the last two passes included. */
double
rappor_pair_work(const RapporPlan *plan, const RapporReport *reports, int64 n, int pair,
				 const RapporPosition *positions)
{
	Joint *joint = new_joint(plan, reports, n, pair, positions);
	double cells = 0;

	for (int64 i = 0; i < joint->n; i++)
	{
		const Answer *answer = &joint->answer[i];
		Side x;
		Side y;

		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		fill_side(joint, joint->first, answer->cohort, answer->first, &x);
		fill_side(joint, joint->second, answer->cohort, answer->second, &y);
		cells += (double) x.n * y.n;
	}
	free_joint(joint);
	return cells * (plan->query.iterations + 2);
}

/* The shares of cells, and their standard deviations. */
static void
read_joint(Joint *joint, RapporJoint *estimate)
{
	Sums sums;
	Sums squares;
	int64 cells = (int64) joint->rows * joint->columns;

	pass(joint, 1, &sums);
	pass(joint, 2, &squares);
	*estimate = (RapporJoint){.rows = joint->rows,
							  .columns = joint->columns,
							  .share = palloc(cells * sizeof(double)),
							  .stddev = palloc(cells * sizeof(double)),
							  .none = joint->none};
	memcpy(estimate->share, joint->cell, cells * sizeof(double));
	for (int a = 0; a < joint->rows; a++)
		for (int b = 0; b < joint->columns; b++)
		{
			double information = sum_at(joint, &squares, a, b) -
								 2 * sum_at(joint, &sums, a, b) + joint->n;

			estimate->stddev[a * joint->columns + b] =
				information > 0 ? 1 / sqrt(information) : HUGE_VAL;
		}
	free_sums(&sums);
	free_sums(&squares);
}

/* The likeliest joint distribution of the n-grams at a pair of positions. */
void
rappor_pair_estimate(const RapporPlan *plan, const RapporReport *reports, int64 n, int pair,
					 const RapporPosition *positions, RapporJoint *estimate)
{
	Joint *joint = new_joint(plan, reports, n, pair, positions);

	start(joint);
	if (joint->n > 0)
		maximise(joint);
	read_joint(joint, estimate);
	free_joint(joint);
}

void
rappor_joint_free(RapporJoint *estimate)
{
	pfree(estimate->share);
	pfree(estimate->stddev);
}
