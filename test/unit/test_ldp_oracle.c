/*
 * test_ldp_oracle.c
 *	  Are the oracles epsilon-private?  All answers are enumerated, between any two truths,
 *	  in integers; and the code answers by the very probabilities that are enumerated.
 */
#include "local/oracle.h"

#include <math.h>

#include "exact_exp.h"
#include "laws.h"
#include "script_rng.h"
#include "tap.h"

/*
 * How near to e^epsilon the worst ratio must come, besides what multiples of 2^-62 allow,
 * and what it costs, for each value, that a lie's probability is rounded up.
 */
#define TIGHT 1e-9
#define TIGHT_VALUE 2e-14

/* Things asked about at once; truths are one of them, or none of them. */
#define NODES 3
#define TRUTHS (NODES + 1)

#define RANDOM_EPSILONS 80
#define DRAWS 200000

static const double known_epsilon[] = {1e-6, 1e-5, 1e-3, 0.01, 0.1, 0.5, 0.6931471805599453, 1,
									   1.0986122886681098, 2, 3, 4, 5.5, 8, 12, 16, 20, 24, 31,
									   32};

static DpRandom rng;

/* Epsilons: the known ones, then random ones, evenly by their logarithm. */
static double
epsilon_of(int i)
{
	double u;

	if (i < (int) lengthof(known_epsilon))
		return known_epsilon[i];
	u = (double) dp_mix64(0x6c6470, i) * 0x1p-64;
	return exp(log(1e-6) + u * (log(32) - log(1e-6)));
}

#define EPSILONS ((int) lengthof(known_epsilon) + RANDOM_EPSILONS)

/* Between all truths and all answers: is no ratio above e^epsilon, and one near it? */
typedef struct Verdict
{
	double epsilon;
	double tolerance;
	bool bounded;
	bool reached;
} Verdict;

/* rare: the smallest probability there is, in units; it is known to one of them. */
static Verdict
verdict(double epsilon, uint64 rare, uint32 values)
{
	return (Verdict){epsilon, TIGHT + TIGHT_VALUE * values + 2.0 / (double) rare, true, false};
}

static void
judge(Verdict *v, const Quotient *q)
{
	v->bounded = v->bounded && quotient_at_most_exp(q, v->epsilon);
	v->reached = v->reached || quotient_near_exp(q, v->epsilon, v->tolerance);
}

static bool
fine(const Verdict *v, const char *what)
{
	if (!v->bounded)
		printf("# %s: epsilon %.17g is exceeded\n", what, v->epsilon);
	if (!v->reached)
		printf("# %s: epsilon %.17g is not reached\n", what, v->epsilon);
	return v->bounded && v->reached;
}

/* ---- bits ---- */

/* P(the bits of the answer | truth), one factor a node; truth NODES: none of them. */
static void
bits_probability(const Oracle *oracle, int answer, int truth, dp_uint128 *factor)
{
	for (int node = 0; node < NODES; node++)
	{
		uint64 one = node == truth ? oracle->yes : oracle->no;

		factor[node] = (answer >> node & 1) ? one : ORACLE_ONE - one;
	}
}

static bool
audit_bits(double epsilon)
{
	Oracle oracle;
	Verdict v;

	if (oracle_bits(epsilon, &oracle) != DP_OK)
		return false;
	v = verdict(epsilon, oracle.no, 2);
	for (int answer = 0; answer < 1 << NODES; answer++)
		for (int a = 0; a < TRUTHS; a++)
			for (int b = 0; b < TRUTHS; b++)
			{
				Quotient q = {.factors = NODES};

				bits_probability(&oracle, answer, a, q.num);
				bits_probability(&oracle, answer, b, q.den);
				judge(&v, &q);
			}
	return fine(&v, "bits");
}

/* ---- values ---- */

/*
 * P(value | truth) as a quotient, times 2^ORACLE_BITS; truth == values: none of them.  Of
 * the values only whether it is the truth counts.
 */
static Quotient
value_probability(const Oracle *oracle, uint32 value, uint32 truth)
{
	if (truth == oracle->values)
		return (Quotient){1, {ORACLE_ONE}, {oracle->values}};
	if (value == truth)
		return (Quotient){1, {oracle->keep}, {1}};
	return (Quotient){1, {ORACLE_ONE - oracle->keep}, {oracle->values - 1}};
}

static Quotient
ratio_of(Quotient a, Quotient b)
{
	return (Quotient){2, {a.num[0], b.den[0]}, {a.den[0], b.num[0]}};
}

/* Values 0 and 1, 2 if there is one, and none: all the others are like value 2. */
static bool
audit_values(const Oracle *oracle, double epsilon, const char *what)
{
	Verdict v = verdict(epsilon, Min(oracle->keep, ORACLE_ONE - oracle->keep), oracle->values);
	uint32 n = Min(oracle->values, 3);

	for (uint32 value = 0; value < n; value++)
		for (uint32 a = 0; a <= n; a++)
			for (uint32 b = 0; b <= n; b++)
			{
				uint32 one = a == n ? oracle->values : a;
				uint32 other = b == n ? oracle->values : b;
				Quotient q = ratio_of(value_probability(oracle, value, one),
									  value_probability(oracle, value, other));

				judge(&v, &q);
			}
	return fine(&v, what);
}

static bool
audit_choice(double epsilon, uint32 values)
{
	Oracle oracle;

	return oracle_choice(epsilon, values, &oracle) == DP_OK && oracle.values == values &&
		   audit_values(&oracle, epsilon, "choice");
}

static bool
audit_hash(double epsilon)
{
	Oracle oracle;

	return oracle_hash(epsilon, &oracle) == DP_OK && oracle.values >= 2 &&
		   audit_values(&oracle, epsilon, "hash");
}

/*
 * Within the server hashes are not drawn, but for each item a bit: yes for the user's own,
 * no for every other (crowd.c).  Two users' bits, one's and the other's own item.
 */
static bool
audit_supporters(double epsilon)
{
	Oracle o;
	dp_uint128 yes;
	dp_uint128 no;
	bool bounded;

	if (oracle_hash(epsilon, &o) != DP_OK)
		return false;
	yes = o.yes;
	no = o.no;
	bounded = yes >= no &&
			  quotient_at_most_exp(
				  &(Quotient){2, {yes, ORACLE_ONE - no}, {no, ORACLE_ONE - yes}}, epsilon);
	if (!bounded)
		printf("# supporters of hash values: epsilon %.17g is exceeded\n", epsilon);
	return bounded;
}

/* One bit: of two values, by bits and by values. */
static bool
audit_sign(double epsilon)
{
	Oracle oracle;

	return oracle_sign(epsilon, &oracle) == DP_OK && oracle.values == 2 &&
		   oracle.yes == oracle.keep && oracle.yes + oracle.no == ORACLE_ONE &&
		   audit_values(&oracle, epsilon, "sign");
}

static void
test_ratios(void)
{
	bool bits = true;
	bool sign = true;
	bool choice = true;
	bool hash = true;
	bool supporters = true;

	for (int i = 0; i < EPSILONS; i++)
	{
		double epsilon = epsilon_of(i);

		supporters = audit_supporters(epsilon) && supporters;
		bits = audit_bits(epsilon) && bits;
		sign = audit_sign(epsilon) && sign;
		hash = audit_hash(epsilon) && hash;
		for (uint32 values = 2; values <= 1000000; values = values * 3 + 1)
			choice = audit_choice(epsilon, values) && choice;
	}
	ok(bits, "bits: no ratio above e^epsilon, and one at it, for %d epsilons", EPSILONS);
	ok(sign, "sign: likewise");
	ok(choice, "choice: likewise, of 2 to 442,867 values");
	ok(hash, "hash: likewise");
	ok(supporters, "supporters of hash values, as the server draws them: no ratio above");
}

/* Of so many values the truth is hardly likelier than another: rounding must not make it less. */
static void
test_many_values(void)
{
	bool bounded = true;

	for (int i = 0; i < EPSILONS; i++)
		for (uint64 values = 1000; values <= PG_UINT32_MAX; values = values * 3 + 2)
		{
			Oracle o;

			bounded = oracle_choice(epsilon_of(i), (uint32) values, &o) == DP_OK && bounded;
			bounded = bounded &&
					  quotient_at_most_exp(
						  &(Quotient){2, {ORACLE_ONE - o.keep, 1}, {o.keep, o.values - 1}},
						  epsilon_of(i)) &&
					  quotient_at_most_exp(
						  &(Quotient){2, {o.keep, o.values - 1}, {ORACLE_ONE - o.keep, 1}},
						  epsilon_of(i));
		}
	ok(bounded, "choice: no ratio above e^epsilon, of up to 2^32 values");
}

/* The judge must see a probability that is wrong by little. */
static void
test_judge(void)
{
	Oracle oracle;
	Quotient exact;
	bool sees = true;

	ok(exact_exp_encloses(1,
						  "271828182845904523536028747135266249775724709369995957496696762772"
						  "407663035354759",
						  "271828182845904523536028747135266249775724709369995957496696762772"
						  "407663035354760") &&
		   exact_exp_encloses(32,
							  "789629601826806951609780226351082242199561951153523306550800205"
							  "9875430785401988897903891260467",
							  "789629601826806951609780226351082242199561951153523306550800205"
							  "9875430785401988897903891260468"),
	   "the judge's e^1 and e^32 are right to 80 places");
	for (int i = 0; i < EPSILONS; i++)
	{
		double epsilon = epsilon_of(i);

		if (oracle_sign(epsilon, &oracle) != DP_OK)
			sees = false;
		exact = (Quotient){1, {oracle.yes}, {oracle.no}};
		sees = sees && quotient_at_most_exp(&exact, epsilon);
		/* one part in 10^13 less noise; at least one unit */
		exact.den[0] -= Max(1, oracle.no / UINT64CONST(10000000000000));
		exact.num[0] = ORACLE_ONE - exact.den[0];
		sees = sees && !quotient_at_most_exp(&exact, epsilon);
	}
	ok(sees, "the judge sees that one part in 10^13 less noise were too little");
}

/* ---- the client's half ---- */

/* Is a trial true below the threshold and false from it on? */
static bool
exact_trial(uint64 probability)
{
	uint64 last = probability << (64 - ORACLE_BITS);
	bool below;
	bool from;

	script_word(&rng, last - 1);
	below = oracle_trial(&rng, probability);
	script_word(&rng, last);
	from = oracle_trial(&rng, probability);
	return below && !from && script_used_up(&rng);
}

/* Does the code use yes for a true bit, no for a false one, keep for a value? */
static bool
exact_client(double epsilon)
{
	Oracle bits;
	Oracle hash;
	uint64 last;
	bool right;

	if (oracle_bits(epsilon, &bits) != DP_OK || oracle_hash(epsilon, &hash) != DP_OK)
		return false;
	right = exact_trial(bits.yes) && exact_trial(bits.no) && exact_trial(hash.keep);
	for (int truth = 0; truth < 2; truth++)
	{
		last = (truth ? bits.yes : bits.no) << (64 - ORACLE_BITS);
		script_word(&rng, last - 1);
		right = right && oracle_answer_bit(&bits, &rng, truth);
		script_word(&rng, last);
		right = right && !oracle_answer_bit(&bits, &rng, truth);
	}
	for (uint32 truth = 0; truth < 2; truth++)
	{
		last = hash.keep << (64 - ORACLE_BITS);
		script_word(&rng, last - 1);
		right = right && oracle_answer_value(&hash, &rng, truth) == truth;
		script_word(&rng, last);
		right = right && oracle_answer_value(&hash, &rng, truth) != truth;
	}
	return right;
}

/* The law of the values that the code draws, by chi-square. */
static double
values_p(const Oracle *oracle, uint32 truth)
{
	uint64 seen[16] = {0};
	double p[16];
	double lie = (double) (ORACLE_ONE - oracle->keep) / (double) ORACLE_ONE;

	for (uint32 value = 0; value < oracle->values; value++)
	{
		if (truth == oracle->values)
			p[value] = 1.0 / oracle->values;
		else
			p[value] = value == truth ? 1 - lie : lie / (oracle->values - 1);
	}
	for (int i = 0; i < DRAWS; i++)
	{
		uint32 value = oracle_answer_value(oracle, &rng, truth);

		if (value >= oracle->values)
			return 0;
		seen[value]++;
	}
	return chi_square_p(seen, p, oracle->values);
}

static void
test_client(void)
{
	bool exact = true;
	double least = 1;
	int laws = 0;

	for (int i = 0; i < EPSILONS; i++)
		exact = exact_client(epsilon_of(i)) && exact;
	ok(exact, "a trial compares exactly: the last number below and the first not below");

	dp_random_seeded(&rng, 0x6c6470, 1, 0);
	for (uint32 values = 2; values <= 9; values++)
		for (uint32 truth = 0; truth <= values; truth++)
		{
			Oracle oracle;

			if (oracle_choice(0.25 * values, values, &oracle) == DP_OK)
				least = Min(least, values_p(&oracle, truth));
			laws++;
		}
	ok(least > ALARM / laws, "values are drawn by the law that was enumerated (p >= %.2g of %d)",
	   least, laws);
}

/* Hash values: uniform over the seeds, and those of two items independent. */
static void
test_hash_values(void)
{
	Oracle oracle;
	uint64 seen[25] = {0};
	double p[25];
	bool inside = true;

	if (oracle_choice(1, 5, &oracle) != DP_OK)
		inside = false;
	dp_random_seeded(&rng, 0x6c6470, 2, 0);
	for (int i = 0; i < 25; i++)
		p[i] = 1.0 / 25;
	for (int i = 0; i < DRAWS; i++)
	{
		uint64 seed = dp_random_u64(&rng);
		uint32 one = oracle_hash_value(&oracle, seed, oracle_item((uint16[]){1, 2}, 2));
		uint32 other = oracle_hash_value(&oracle, seed, oracle_item((uint16[]){1, 3}, 2));

		inside = inside && one < 5 && other < 5;
		if (inside)
			seen[one * 5 + other]++;
	}
	ok(inside && chi_square_p(seen, p, 25) > ALARM,
	   "hash values of two items are uniform and independent over the seeds");
}

int
main(void)
{
	dp_random_seeded(&rng, 0x6c6470, 0, 0);
	test_judge();
	test_ratios();
	test_many_values();
	test_client();
	test_hash_values();
	return tap_done();
}
