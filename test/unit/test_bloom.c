/*
 * test_bloom.c
 *	  RAPPOR's Bloom filters: the bits of a value, the law of what is reported, and the
 *	  promised epsilon against that law, by enumeration of all answers.
 */
#include "local/bloom.h"

#include <math.h>

#include "laws.h"
#include "tap.h"

#define DRAWS 200000
#define SMALL 16 /* answers of four bits */

static DpRandom rng;

/* ---- which bits ---- */

typedef struct Golden
{
	int bits;
	int hashes;
	uint32 cohort;
	uint32 role;
	uint16 symbol[6];
	int n;
	uint64 set;
} Golden;

/* Computed by another program, in another language, from the definition. */
static const Golden golden[] = {
	{64, 1, 0, 0, {18, 5, 4, 4, 9, 20}, 6, UINT64CONST(0x20000000000)},
	{64, 1, 63, 0, {18, 5, 4, 4, 9, 20}, 6, UINT64CONST(0x100000000)},
	{64, 2, 5, 1, {18, 5}, 2, UINT64CONST(0x801000000)},
	{16, 2, 7, 3, {9, 20}, 2, UINT64CONST(0x4080)},
	{5, 4, 1, 2, {0, 0}, 2, UINT64CONST(0xf)},
	{2, 1, 0, 1, {20, 0}, 2, UINT64CONST(0x1)}};

static void
test_golden(void)
{
	for (int i = 0; i < (int) lengthof(golden); i++)
	{
		const Golden *g = &golden[i];
		Bloom bloom = {.bits = g->bits, .hashes = g->hashes};

		ok(bloom_item_bits(&bloom, g->cohort, g->role, oracle_item(g->symbol, g->n)) == g->set,
		   "%d of %d bits in cohort %u, role %u", g->hashes, g->bits, g->cohort, g->role);
	}
}

/* Items fall on all pairs of bits alike, and on those of two cohorts independently. */
static void
test_spread(void)
{
	Bloom bloom = {.bits = 4, .hashes = 2};
	int rank[SMALL];
	uint64 seen[36] = {0};
	double p[36];
	int ranks = 0;

	for (int set = 0; set < SMALL; set++)
		rank[set] = __builtin_popcount(set) == 2 ? ranks++ : -1;
	for (int i = 0; i < 36; i++)
		p[i] = 1 / 36.0;
	for (uint64 item = 0; item < DRAWS; item++)
	{
		int first = rank[bloom_item_bits(&bloom, 1, 1, item)];
		int second = rank[bloom_item_bits(&bloom, 2, 1, item)];

		seen[first * 6 + second]++;
	}
	ok(ranks == 6 && chi_square_p(seen, p, 36) > ALARM, "items spread over the bits");
}

/* ---- the law ---- */

/* P(answer | true bits), where each bit is 1 with the one probability or the other. */
static long double
law_of(int bits, long double one, long double zero, uint64 truth, uint64 answer)
{
	long double p = 1;

	for (int bit = 0; bit < bits; bit++)
	{
		long double is_1 = (truth >> bit & 1) != 0 ? one : zero;

		p *= (answer >> bit & 1) != 0 ? is_1 : 1 - is_1;
	}
	return p;
}

static long double
units(uint64 probability)
{
	return (long double) probability / (long double) ORACLE_ONE;
}

/* P(1 is reported | true bit), permanent bits included. */
static long double
report_one(const Bloom *bloom, bool truth)
{
	long double wrong = units(bloom->flip);
	long double yes = units(truth ? bloom->yes : bloom->no);
	long double no = units(truth ? bloom->no : bloom->yes);

	return (1 - wrong) * yes + wrong * no;
}

/* P(two answers in a row | true bits): over all permanent bits. */
static long double
law_of_two(const Bloom *bloom, uint64 truth, uint64 first, uint64 second)
{
	long double sum = 0;
	long double wrong = units(bloom->flip);

	for (uint64 permanent = 0; permanent < UINT64CONST(1) << bloom->bits; permanent++)
		sum += law_of(bloom->bits, 1 - wrong, wrong, truth, permanent) *
			   law_of(bloom->bits, units(bloom->yes), units(bloom->no), permanent, first) *
			   law_of(bloom->bits, units(bloom->yes), units(bloom->no), permanent, second);
	return sum;
}

static bool
is_truth(const Bloom *bloom, uint64 set)
{
	return set == 0 || __builtin_popcountll(set) == bloom->hashes;
}

/* What is enumerated: an answer of one report, of two, or all permanent bits. */
typedef enum Seen
{
	ONE_REPORT,
	TWO_REPORTS,
	PERMANENT
} Seen;

static long double
law_seen(const Bloom *bloom, Seen seen, uint64 truth, uint64 answer)
{
	uint64 all = (UINT64CONST(1) << bloom->bits) - 1;

	switch (seen)
	{
		case ONE_REPORT:
			return law_of(bloom->bits, report_one(bloom, true), report_one(bloom, false), truth,
						  answer);
		case TWO_REPORTS:
			return law_of_two(bloom, truth, answer & all, answer >> bloom->bits);
		default:
			return law_of(bloom->bits, 1 - units(bloom->flip), units(bloom->flip), truth,
						  answer);
	}
}

/* The largest ln of the ratio of an answer's probabilities, over all truths and answers. */
static double
enumerated_epsilon(const Bloom *bloom, Seen seen)
{
	int answer_bits = seen == TWO_REPORTS ? 2 * bloom->bits : bloom->bits;
	long double most = 1;

	for (uint64 a = 0; a < UINT64CONST(1) << bloom->bits; a++)
		for (uint64 b = 0; b < UINT64CONST(1) << bloom->bits; b++)
			for (uint64 answer = 0; answer < UINT64CONST(1) << answer_bits; answer++)
			{
				if (!is_truth(bloom, a) || !is_truth(bloom, b))
					continue;
				most = fmaxl(most, law_seen(bloom, seen, a, answer) /
									   law_seen(bloom, seen, b, answer));
			}
	return (double) logl(most);
}

/* Nothing above what is promised, but for the rounding of this program; nothing wasted. */
static bool
is_tight(double enumerated, double promised)
{
	return enumerated <= promised * (1 + 1e-15) && enumerated >= promised * (1 - 1e-6) - 1e-12;
}

static void
test_once(void)
{
	const double epsilons[] = {1e-5, 0.01, 0.5, 1, 2, 4, 8, 16, 32};

	for (int hashes = 1; hashes <= 2; hashes++)
		for (int i = 0; i < (int) lengthof(epsilons); i++)
		{
			Bloom bloom;
			double enumerated;

			ok(bloom_once(epsilons[i], 4, hashes, &bloom) == DP_OK && bloom.flip == 0 &&
				   bloom.yes == ORACLE_ONE / 2,
			   "%d hashes, epsilon %g: optimised", hashes, epsilons[i]);
			enumerated = enumerated_epsilon(&bloom, ONE_REPORT);
			ok(is_tight(enumerated, epsilons[i]), "%d hashes, epsilon %g: %.12g of all answers",
			   hashes, epsilons[i], enumerated);
		}
}

static void
test_repeated(void)
{
	const double pairs[][2] = {{0.1, 4}, {1, 2}, {1, 8}, {2, 2}, {3, 4}, {3.9, 4}, {0.5, 0.5}};

	for (int hashes = 1; hashes <= 2; hashes++)
		for (int i = 0; i < (int) lengthof(pairs); i++)
		{
			double epsilon = pairs[i][0];
			double lifetime = pairs[i][1];
			Bloom bloom;
			double two;

			ok(bloom_repeated(epsilon, lifetime, 4, hashes, &bloom) == DP_OK,
			   "%d hashes, epsilon %g of %g", hashes, epsilon, lifetime);
			ok(is_tight(enumerated_epsilon(&bloom, ONE_REPORT), epsilon), "one report has epsilon");
			ok(is_tight(enumerated_epsilon(&bloom, PERMANENT), lifetime),
			   "the permanent bits have lifetime");
			two = enumerated_epsilon(&bloom, TWO_REPORTS);
			ok(two <= lifetime * (1 + 1e-15) && two > epsilon * (1 - 1e-6) &&
				   two < 2 * epsilon,
			   "two reports have %.4f: above one, below two independent ones, below lifetime",
			   two);
			ok(fabs(bloom.one - (double) report_one(&bloom, true)) < 1e-15 &&
				   fabs(bloom.zero - (double) report_one(&bloom, false)) < 1e-15,
			   "estimates use the very probabilities");
		}
}

/* ---- what is drawn ---- */

/* Four lanes, far apart, of 64 trials: each of the 16 outcomes as often as it should. */
static void
test_trials(void)
{
	const uint64 probabilities[] = {ORACLE_ONE / 2, ORACLE_ONE / 4 * 3, ORACLE_ONE / 16 * 5,
									ORACLE_ONE / 3, ORACLE_ONE / 10 * 9 + 1};

	for (int i = 0; i < (int) lengthof(probabilities); i++)
	{
		long double p = units(probabilities[i]);
		uint64 seen[SMALL] = {0};
		double law[SMALL];

		for (int draw = 0; draw < DRAWS; draw++)
		{
			uint64 trials = bloom_trials(&rng, probabilities[i]);

			seen[(trials & 3) | (trials >> 31 & 4) | (trials >> 60 & 8)]++;
		}
		for (int outcome = 0; outcome < SMALL; outcome++)
			law[outcome] = (double) law_of(4, p, p, 0, outcome);
		ok(chi_square_p(seen, law, SMALL) > ALARM, "trials of probability %.4f", (double) p);
	}
	ok(bloom_trials(&rng, 0) == 0 && bloom_trials(&rng, ORACLE_ONE) == ~UINT64CONST(0),
	   "never and always");
}

/* The keyed words, compared digit by digit, in another program. */
static void
test_permanent_golden(void)
{
	const uint16 symbol[] = {18, 5, 4, 4, 9, 20};
	const uint8 *secret = (const uint8 *) "a secret";
	Bloom bloom = {.bits = 64, .hashes = 1, .flip = UINT64CONST(1) << 60};
	uint64 permanent;

	ok(bloom_permanent(&bloom, secret, 8, 9, 1, symbol, 2, 0, &permanent) == DP_OK &&
		   permanent == UINT64CONST(0x82203100162201a4),
	   "permanent bits of an n-gram");
	bloom.flip = UINT64CONST(3) << 59;
	ok(bloom_permanent(&bloom, secret, 8, 9, 0, symbol, 6, 5, &permanent) == DP_OK &&
		   permanent == UINT64CONST(0x1003210805123411),
	   "permanent bits of a term");
	ok(bloom_permanent(&bloom, NULL, 0, 9, 0, symbol, 6, 5, &permanent) == DP_ERR_DOMAIN &&
		   bloom_permanent(&bloom, secret, 0, 9, 0, symbol, 6, 5, &permanent) == DP_ERR_DOMAIN,
	   "no permanent bits without a secret");
}

typedef struct Flipped
{
	Bloom bloom;
	uint32 secret;
	uint32 cohort;
	uint32 role;
	uint16 symbol;
} Flipped;

/* The bits that are wrong in the permanent bits of a value, two of them. */
static int
flips(const Flipped *flipped)
{
	uint64 permanent = 0;

	(void) bloom_permanent(&flipped->bloom, (const uint8 *) &flipped->secret,
						   sizeof(flipped->secret), flipped->cohort, flipped->role,
						   &flipped->symbol, 1, 0, &permanent);
	return (int) (permanent & 1) | (int) (permanent >> 40 & 2);
}

/*
 * Permanent bits are wrong as often as they should be, and independently where anything
 * differs that the true bits or the flips depend on; else they are the same.
 */
static void
check_independent(const char *name, const Flipped *one, const Flipped *other)
{
	uint64 seen[SMALL] = {0};
	double law[SMALL];
	double f[2] = {(double) units(one->bloom.flip), (double) units(other->bloom.flip)};
	bool same = true;

	for (uint32 client = 0; client < 20000; client++)
	{
		Flipped a = *one;
		Flipped b = *other;
		int first;

		a.secret += client;
		b.secret += client;
		first = flips(&a);
		same &= first == flips(&a);
		seen[first | flips(&b) << 2]++;
	}
	for (int outcome = 0; outcome < SMALL; outcome++)
		law[outcome] = (double) (law_of(2, f[0], f[0], 0, outcome & 3) *
								 law_of(2, f[1], f[1], 0, outcome >> 2));
	ok(same && chi_square_p(seen, law, SMALL) > ALARM, "permanent bits depend on the %s", name);
}

static void
test_permanent_law(void)
{
	const Flipped one = {.bloom = {.bits = 64, .hashes = 1, .flip = ORACLE_ONE / 5},
						 .cohort = 1,
						 .role = 1,
						 .symbol = 1};
	Flipped other[7];

	for (int i = 0; i < (int) lengthof(other); i++)
		other[i] = one;
	other[0].secret = 100000;
	other[1].cohort = 2;
	other[2].role = 2;
	other[3].symbol = 2;
	other[4].bloom.bits = 63;
	other[5].bloom.hashes = 2;
	other[6].bloom.flip = ORACLE_ONE / 4;
	check_independent("secret", &one, &other[0]);
	check_independent("cohort", &one, &other[1]);
	check_independent("role", &one, &other[2]);
	check_independent("value", &one, &other[3]);
	check_independent("number of bits", &one, &other[4]);
	check_independent("number of hashes", &one, &other[5]);
	check_independent("lifetime", &one, &other[6]);
}

/* Answers of four bits follow the law that was enumerated. */
static void
check_answers(const Bloom *bloom, const char *name)
{
	for (uint64 truth = 0; truth < SMALL; truth += 5)
	{
		uint64 seen[SMALL] = {0};
		double law[SMALL];
		bool within = true;

		for (uint32 draw = 0; draw < DRAWS / 4; draw++)
		{
			uint64 bits = truth;

			if (bloom->flip != 0)
				(void) bloom_permanent(bloom, (const uint8 *) &draw, sizeof(draw), 9, 1, NULL, 0,
									   truth, &bits);
			bits = bloom_answer(bloom, &rng, bits);
			within &= bits < SMALL;
			seen[bits % SMALL]++;
		}
		for (uint64 answer = 0; answer < SMALL; answer++)
			law[answer] = (double) law_seen(bloom, ONE_REPORT, truth, answer);
		ok(within && chi_square_p(seen, law, SMALL) > ALARM, "%s: answers to %d", name,
		   (int) truth);
	}
}

static void
test_answers(void)
{
	Bloom bloom;

	ok(bloom_once(2, 4, 2, &bloom) == DP_OK, "one collection");
	check_answers(&bloom, "one collection");
	ok(bloom_repeated(1, 3, 4, 2, &bloom) == DP_OK, "repeated collections");
	check_answers(&bloom, "repeated collections");
}

static void
test_domain(void)
{
	Bloom bloom;

	ok(bloom_once(0, 64, 1, &bloom) == DP_ERR_DOMAIN &&
		   bloom_once(NAN, 64, 1, &bloom) == DP_ERR_DOMAIN &&
		   bloom_once(33, 64, 1, &bloom) == DP_ERR_DOMAIN,
	   "epsilon");
	ok(bloom_once(1, 65, 1, &bloom) == DP_ERR_DOMAIN &&
		   bloom_once(1, 1, 1, &bloom) == DP_ERR_DOMAIN,
	   "bits");
	ok(bloom_once(1, 64, 0, &bloom) == DP_ERR_DOMAIN &&
		   bloom_once(1, 64, 9, &bloom) == DP_ERR_DOMAIN &&
		   bloom_once(1, 4, 4, &bloom) == DP_ERR_DOMAIN,
	   "hashes");
	ok(bloom_repeated(2, 1.9, 64, 1, &bloom) == DP_ERR_DOMAIN &&
		   bloom_repeated(2, NAN, 64, 1, &bloom) == DP_ERR_DOMAIN &&
		   bloom_repeated(17, 20, 64, 1, &bloom) == DP_ERR_DOMAIN,
	   "lifetime");
}

int
main(void)
{
	dp_random_seeded(&rng, 5, 20160301, 0);
	test_golden();
	test_spread();
	test_once();
	test_repeated();
	test_trials();
	test_permanent_golden();
	test_permanent_law();
	test_answers();
	test_domain();
	return tap_done();
}
