/*
 * test_gaussian_noise.c
 *	  The table-driven discrete Gaussian: its table against the density, its exact decisions
 *	  where chance never gets, and its draws against the law.
 */
#include "common/dp_gaussian_noise.h"

#include <math.h>

#include "common/dp_sample.h"
#include "exact_exp.h"
#include "laws.h"
#include "script_rng.h"
#include "tap.h"

#define DRAWS (1 << 20)
#define TAIL (DP_NOISE_CELLS - 1)
#define ALL_HEIGHTS (UINT64CONST(1) << 31)
#define QUARTER (UINT64CONST(1) << 62)

static DpRandom rng;

static DpGaussianNoise *
prepared(int64 sigma)
{
	static DpGaussianNoise noise;

	dp_gaussian_noise_prepare(&noise, sigma);
	return &noise;
}

/* The logarithm of peak exp(-y^2/(2 sigma^2)) at y = i cells. */
static long double
log_density(const DpGaussianNoise *noise, long double i)
{
	long double z = ldexpl(i, noise->cell_bits) / noise->sigma;

	return logl(noise->peak) - z * z / 2;
}

/* With what number of random words out of 2^31 each cell is chosen: just its height? */
static bool
choice_is_right(const DpGaussianNoise *noise)
{
	uint64 chosen[DP_NOISE_CELLS] = {0};
	bool right = true;

	for (int i = 0; i < DP_NOISE_CELLS; i++)
	{
		const DpNoiseCell *cell = &noise->cell[i];

		right &= cell->keep <= DP_NOISE_SHARE && cell->other < DP_NOISE_CELLS;
		chosen[i] += cell->keep;
		chosen[cell->other] += DP_NOISE_SHARE - cell->keep;
	}
	for (int i = 0; i < DP_NOISE_CELLS; i++)
		right &= chosen[i] == noise->cell[i].height;
	return right;
}

/* Heights above the density everywhere, "quick" below it, the tail's blocks above it, too. */
static bool
envelope_is_right(const DpGaussianNoise *noise)
{
	uint64 sum = 0;
	bool right = true;

	for (int i = 0; i < DP_NOISE_CELLS; i++)
	{
		const DpNoiseCell *cell = &noise->cell[i];

		sum += cell->height;
		if (i == TAIL)
			continue;
		right &= cell->height > expl(log_density(noise, i));
		right &= cell->quick * 0x1p-32L * cell->height < expl(log_density(noise, i + 1));
		/* and not far from it, but for the last unit */
		right &= cell->height < expl(log_density(noise, i)) * (1 + 1e-9L) + 1.001L;
	}
	for (int block = 0; block < 1024; block++)
		right &= logl(noise->cell[TAIL].height) - (block + 5) * logl(2) >
				 log_density(noise, TAIL + 16 * block);
	return right && sum == ALL_HEIGHTS && noise->cell[TAIL].height < 1024 &&
		   noise->cell[TAIL].quick == 0;
}

static void
test_tables(void)
{
	bool choice = true;
	bool envelope = true;
	bool width = true;
	double least = 1;
	int tables = 0;

	dp_random_seeded(&rng, 7, 7, 7);
	for (int i = 0; i < 3000; i++)
	{
		/* both ends of every power of two, then any */
		int64 power = INT64CONST(1) << (9 + i / 2 % 42);
		int64 sigma = i < 84 ? power - i % 2 : power + (int64) dp_uniform(&rng, power);
		const DpGaussianNoise *noise;
		double drawn;

		if (sigma < 512 || sigma > DP_MAX_SIGMA)
			continue;
		noise = prepared(sigma);
		choice &= choice_is_right(noise);
		envelope &= envelope_is_right(noise);
		width &= 32 * (INT64CONST(1) << noise->cell_bits) > sigma &&
				 16 * (INT64CONST(1) << noise->cell_bits) <= sigma;
		/* the draws kept: the density's sum over that of the heights */
		drawn = noise->peak * 1.2533141373155 * (double) sigma;
		least = Min(least, ldexp(drawn, -noise->cell_bits) / ALL_HEIGHTS);
		tables++;
	}
	ok(choice, "%d tables: each cell is chosen as its height says, to the last word", tables);
	ok(envelope, "their heights lie above the density, and what is quickly kept below");
	ok(width, "their cells are between a 32nd and a 16th of sigma wide");
	ok(least > 0.97, "they keep %.3f of the proposals or more", least);
}

/* Is v 2^-128 height 2^-scale < peak exp(-x^2/(2 sigma^2)), sigma = 2^power? */
static bool
lies_below(const DpGaussianNoise *noise, int power, dp_uint128 v, uint64 height, int scale,
		   int64 x)
{
	Quotient q = {.factors = 4,
				  .num = {noise->peak, (dp_uint128) 1 << 64, (dp_uint128) 1 << 64,
						  (dp_uint128) 1 << scale},
				  .den = {v, height, 1, 1}};

	return v == 0 || !quotient_at_most_exp(&q, ldexp((double) (x * x), -2 * power - 1));
}

/* The largest 128-bit v for which it is. */
static dp_uint128
last_below(const DpGaussianNoise *noise, int power, uint64 height, int scale, int64 x)
{
	dp_uint128 v = 0;

	for (int bit = 127; bit >= 0; bit--)
	{
		dp_uint128 next = v | (dp_uint128) 1 << bit;

		if (lies_below(noise, power, next, height, scale, x))
			v = next;
	}
	return v;
}

/* A word that chooses a cell, with a sign and the first 32 bits of u. */
static uint64
choosing_word(const DpGaussianNoise *noise, uint32 k, bool negative, uint32 u)
{
	uint64 word = (uint64) u << 32 | (uint64) negative << 31;

	if (noise->cell[k].keep > 0)
		return word | k;
	for (uint32 i = 0; i < DP_NOISE_CELLS; i++)
	{
		if (noise->cell[i].keep < DP_NOISE_SHARE && noise->cell[i].other == k)
			return word | (uint64) (DP_NOISE_SHARE - 1) << 8 | i;
	}
	abort();
}

/* Whether a script of n words yields x, or else 5, which it proposes next. */
static bool
yields(const DpGaussianNoise *noise, uint64 *words, int n, int64 x, bool kept)
{
	DpRandom script;
	int64 drawn;

	if (!kept)
	{
		words[n++] = choosing_word(noise, 0, false, 0);
		words[n++] = UINT64CONST(5) << (64 - noise->cell_bits);
	}
	script_words(&script, words, n);
	drawn = dp_gaussian_noise_draw(&script, noise);
	return drawn == (kept ? x : 5) && script_used_up(&script);
}

/* A proposal in cell k, around the u at which it ceases to be kept. */
static bool
edge_is_right(const DpGaussianNoise *noise, int power, uint32 k, bool negative, uint64 place)
{
	int64 distance = (int64) ((uint64) k << noise->cell_bits | place);
	int64 x = negative ? -1 - distance : distance;
	dp_uint128 last = last_below(noise, power, noise->cell[k].height, 0, x);
	bool right = last >> 96 >= noise->cell[k].quick;

	for (int i = 0; i < 4; i++)
	{
		/* the second word's digits decide, but right at the edge it takes a third */
		dp_uint128 v = i == 0 ? last - 1 : i == 3 ? last + 1 :
													last;
		uint64 words[8] = {choosing_word(noise, k, negative, (uint32) (v >> 96)),
						   place << (64 - noise->cell_bits), (uint64) (v >> 64) << 32,
						   (uint64) v};
		int n = 4;

		if (i == 1 || i == 2)
			words[n++] = i == 1 ? 0 : PG_UINT64_MAX;
		right &= yields(noise, words, n, x, i <= 1);
	}
	return right;
}

/* The doubles and the first digits of u decide where they can, and need no more words. */
static bool
clear_is_right(const DpGaussianNoise *noise, int power, uint32 k, bool negative, uint64 place)
{
	int64 distance = (int64) ((uint64) k << noise->cell_bits | place);
	int64 x = negative ? -1 - distance : distance;
	dp_uint128 last = last_below(noise, power, noise->cell[k].height, 0, x);
	dp_uint128 step = (dp_uint128) 1 << 86; /* 2^-42 */
	bool right = true;

	for (int kept = 0; kept <= 1; kept++)
	{
		dp_uint128 v = kept ? last - step : last + step;
		uint64 words[8] = {choosing_word(noise, k, negative, (uint32) (v >> 96)),
						   place << (64 - noise->cell_bits), (uint64) (v >> 64) << 32};

		right &= yields(noise, words, 3, x, kept);
	}
	return right;
}

static void
test_edges(void)
{
	const int powers[] = {9, 20, 22};
	const uint32 cells[] = {0, 1, 15, 16, 40, 77, 120};
	bool exact = true;
	bool clear = true;
	int cases = 0;

	for (size_t i = 0; i < lengthof(powers) * lengthof(cells) * 2; i++)
	{
		int power = powers[i % lengthof(powers)];
		uint32 k = cells[i / 2 / lengthof(powers)];
		const DpGaussianNoise *noise = prepared(INT64CONST(1) << power);
		uint64 place = (UINT64CONST(1) << noise->cell_bits) / 2 + i % 3;

		exact &= edge_is_right(noise, power, k, i % 2 == 1, place);
		clear &= clear_is_right(noise, power, k, i % 2 == 0, place);
		cases++;
	}
	ok(exact, "%d edges: 128 bits of u and more decide as rational arithmetic does", cases);
	ok(clear, "and near them doubles do");
}

/* The tail: blocks, places, signs, and its decisions on both sides of their edges. */
static void
test_tail(void)
{
	const int64 sigma = (1 << 21) - 1;
	const DpGaussianNoise *noise = prepared(sigma);
	bool right = true;

	for (int block = 0; block < 3; block++)
		for (int i = 0; i < 4; i++)
		{
			uint64 place = i * 262143;
			int64 distance = (INT64CONST(255) << noise->cell_bits) +
							 ((int64) block << (noise->cell_bits + 4)) + (int64) place;
			int64 x = i % 2 ? -1 - distance : distance;
			long double z = (long double) x / sigma;
			long double edge = expl(-z * z / 2) * noise->peak / noise->cell[TAIL].height;

			for (int kept = 0; kept <= 1; kept++)
			{
				uint64 u = (uint64) ldexpl(edge * (1 + (kept ? -1e-6L : 1e-6L)), 64 + block + 5);
				uint64 words[8] = {choosing_word(noise, TAIL, i % 2, 0),
								   UINT64CONST(1) << block,
								   place << (64 - noise->cell_bits - 4), u};

				right &= u > 1 << 22 && yields(noise, words, 4, x, kept);
			}
		}
	ok(right, "the tail's first blocks are decided as the density says");

	for (int far = 100; far <= 1000; far += 900)
	{
		uint64 words[32] = {choosing_word(noise, TAIL, false, 0)};
		int n = 1 + far / 64;

		words[n++] = UINT64CONST(1) << (far % 64);
		words[n++] = 0;
		words[n++] = QUARTER;
		ok(yields(noise, words, n, 0, false), "block %d: u = 1/4 is far too large", far);
	}
	{
		uint64 words[32] = {choosing_word(noise, TAIL, false, 0)};

		words[17] = 1; /* 2^-1024 */
		ok(yields(noise, words, 18, 0, false), "block 1024 is redrawn");
	}
}

/* Doubles widened to always unsure: the same decisions on the same random words. */
static void
test_forced(int64 sigma)
{
	static DpGaussianNoise forced;
	static DpRandom fast;
	static DpRandom slow;
	const DpGaussianNoise *noise = prepared(sigma);
	bool same = true;

	forced = *noise;
	forced.unsure = INFINITY;
	dp_random_seeded(&fast, 5, (uint64) sigma, 0);
	dp_random_seeded(&slow, 5, (uint64) sigma, 0);
	for (int i = 0; i < 100000; i++)
		same &= dp_gaussian_noise_draw(&fast, noise) == dp_gaussian_noise_draw(&slow, &forced);
	ok(same && fast.state == slow.state,
	   "sigma " INT64_FORMAT ": by integers alone, 100000 draws are the same", sigma);
}

/* The p-value of draws at sigma against the law of law_sigma. */
static double
judge(int64 sigma, long double law_sigma)
{
	static Law law;
	const DpGaussianNoise *noise = prepared(sigma);

	law_gaussian(&law, law_sigma, PG_INT64_MIN);
	for (int i = 0; i < 2 * DRAWS; i++)
		law_count(&law, dp_gaussian_noise_draw(&rng, noise));
	return law_p_value(&law);
}

static void
test_law(int64 sigma)
{
	double p;

	dp_random_system(&rng, NULL);
	p = judge(sigma, sigma);
	ok(p > ALARM, "sigma " INT64_FORMAT ", system generator: p = %g", sigma, p);
	p = judge(sigma, sigma * 1.01L);
	ok(p < ALARM, "sigma " INT64_FORMAT " and 1%%: rejected, p = %g", sigma, p);
	p = judge(sigma, sigma * 0.99L);
	ok(p < ALARM, "sigma " INT64_FORMAT " less 1%%: rejected, p = %g", sigma, p);
	dp_random_clear(&rng);
	dp_random_seeded(&rng, 1, (uint64) sigma, 2);
	p = judge(sigma, sigma);
	ok(p > ALARM, "sigma " INT64_FORMAT ", seeded generator: p = %g", sigma, p);
}

/*
 * Within a cell and across its ends, where quantiles of the whole law see nothing: |x|
 * in the cells of one sixteenth of sigma, eight parts of each; and the last bits of x.
 */
static void
test_cells(int64 sigma)
{
	enum
	{
		PARTS = 2000
	};
	static double p[2 * PARTS];
	static uint64 seen[2 * PARTS];
	const DpGaussianNoise *noise = prepared(sigma);
	int64 part = (INT64CONST(1) << noise->cell_bits) / 8;
	uint64 low[8] = {0};
	double even[8];
	double total = 0;
	bool inside = true;
	double p_cells;

	memset(seen, 0, sizeof(seen));
	for (int i = 0; i < 2 * PARTS; i++)
	{
		long double from = ((i - PARTS) * (long double) part - 0.5L) / sigma;
		long double to = from + (long double) part / sigma;

		p[i] = (double) (erfcl(from * sqrtl(0.5L)) - erfcl(to * sqrtl(0.5L))) / 2;
		total += p[i];
	}
	for (int i = 0; i < 2 * PARTS; i++)
		p[i] /= total;
	dp_random_system(&rng, NULL);
	for (int i = 0; i < 4 * DRAWS; i++)
	{
		int64 x = dp_gaussian_noise_draw(&rng, noise);
		int64 cell = (x + PARTS * part) / part;

		inside &= x + PARTS * part >= 0 && cell < 2 * PARTS;
		if (inside)
			seen[cell]++;
		low[x & 7]++;
	}
	p_cells = chi_square_p(seen, p, 2 * PARTS);
	ok(inside && p_cells > ALARM, "sigma " INT64_FORMAT ", eighths of cells: p = %g", sigma,
	   p_cells);
	for (int i = 0; i < 8; i++)
		even[i] = 0.125;
	ok(chi_square_p(low, even, 8) > ALARM, "and the last three bits: p = %g",
	   chi_square_p(low, even, 8));
}

int
main(void)
{
	const int64 sigmas[] = {1, 2, 10, 511, 512, 513, 1023, 1 << 20, (1 << 20) + (1 << 19),
							(INT64CONST(1) << 36) - 1, DP_MAX_SIGMA};

	test_tables();
	test_edges();
	test_tail();
	test_forced(512);
	test_forced(1000003);
	test_forced(INT64CONST(0xFFFFFFFFFF));
	test_forced(DP_MAX_SIGMA);
	for (size_t i = 0; i < lengthof(sigmas); i++)
		test_law(sigmas[i]);
	test_cells(1 << 16);
	test_cells(98304);
	test_cells(131071);
	return tap_done();
}
