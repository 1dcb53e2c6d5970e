/*
 * dp_gaussian_noise.c
 *	  Discrete Gaussian noise, exact and fast: several rounds a level need a draw for each
 *	  n-gram and round, and dp_discrete_gaussian() would take longer than all the rest.
 *
 * The law is that of dp_discrete_gaussian(), P(x) proportional to exp(-x^2/(2 sigma^2)), and
 * as there no rounding of doubles decides an outcome; see dp_binomial.c for the pattern.
 *
 * The envelope.  x is written as a distance d >= 0 with a sign, d itself or -1 - d, so that
 * 0 has one way to come up.  Distances are parted into cells k = 0, 1, .. of w = 2^b
 * integers, w between sigma/32 and sigma/16.  |x| is at least k w in cell k and at most
 * (k+1) w, so with D(y) = peak exp(-y^2/(2 sigma^2)), "peak" an integer, all of D(x) there
 * lies between D(k w) and D((k+1) w).  The cell's height is an integer H_k >= D(k w).
 *
 * A draw.  The cell with probability H_k / (sum of all) by an alias table of integers (A. J.
 * Walker, "An efficient method for generating discrete random variables with general
 * distributions", 1977); the sign and the place within the cell uniformly; and u uniform on
 * [0, 1), with which x is kept if u H_k < D(x).  The heights sum to 2^31, so that one random
 * word holds the choice of the cell, the sign, and 32 bits of u; a second one the place.
 *
 * The decision.  "quick" is at most 2^32 D((k+1) w)/H_k: where the 32 bits of u are below
 * it, u H_k < D(x) whatever the others are.  That leaves one draw in 20 to 40.  There D(x)
 * is computed in doubles and u taken to 64 bits.  If the two sides are closer than their
 * errors, decide_exactly() compares u H_k exp(x^2/(2 sigma^2)) with the peak: bounds on
 * Taylor's series, of positive terms, in integers, with as many bits of u as it takes.
 *
 * Errors, in units of e = 2^-53, relative and to first order (higher ones are below 10^-9
 * of these).  |x| and sigma, up to 2^54, are off by 1 and 0 as doubles; y = x^2/(2 sigma^2),
 * at most 128, by 5 (2 of x/sigma, so 4 of its square, and 1 for squaring); exp(-y) by 5 y
 * and the 4 of dp_exponential(); D(x) by 5 y + 5.  u H_k has 2.  So the sides have no more
 * than 5 (y + 1) of their sum; UNSURE is three times as much.  In the table D(k w) has less
 * than 700 e, and the heights are raised, "quick" is lowered, by 2^-40.
 *
 * The tail.  What lies beyond the last cell, 255 w, has a cell for itself, whose height T
 * is what the others leave of 2^31, at least 16.  It is parted into blocks h = 0, 1, ..
 * of 16 w integers, of which block h is taken with probability 2^-(h+1): so an integer's
 * height there is T 2^-(h+5).  It lies above D(x): with w > sigma/32, |x| >= (255 + 16 h) w
 * and a peak below 2^27,
 *
 *	log2 D(x) < 27 - (255/32 + h/2)^2 log2(e)/2 < 27 - 45.8 - 5.7 h < 4 - (h + 5).
 *
 * It's taken once in some million draws, and always decided exactly.  Blocks beyond
 * MOST_BLOCKS are redrawn: these are outcomes beyond 512 sigma, with a probability below
 * exp(-2^17), as dp_discrete_gaussian() leaves out those beyond 4096 sigma.
 */
#include "common/dp_base.h"

#include "common/dp_exact.h"
#include "common/dp_gaussian_noise.h"
#include "common/dp_sample.h"

#ifndef FRONTEND
#include "miscadmin.h"
#else
#define CHECK_FOR_INTERRUPTS() ((void) 0)
#endif

/* Below this, a cell would be a few integers or one, and bricks do. */
#define LEAST_SIGMA 512

#define TAIL (DP_NOISE_CELLS - 1)
#define TAIL_BITS 4 /* a block of the tail is 2^TAIL_BITS cells */
#define MOST_BLOCKS 1024

#define ALL_HEIGHTS (UINT64CONST(1) << 31)

/* The error of both sides of the decision, for each of y + 1, with something to spare. */
#define UNSURE (16 * 0x1p-53)

/* More than any error of the table's doubles. */
#define TABLE_ERROR 0x1p-40

/* A proposal that its double doesn't decide: is u height 2^-scale < D(x)? */
typedef struct Proposal
{
	uint64 size; /* |x| */
	uint32 height;
	uint32 scale;
	uint64 digits; /* of u, the first 64 bits */
} Proposal;

/* exp(-y), y = (i w)^2/(2 sigma^2). */
static double
density_at(const DpGaussianNoise *noise, int i)
{
	double z = ldexp(i, noise->cell_bits) / (double) noise->sigma;

	return dp_exponential(-z * z / 2);
}

/* The heights, and what of each is below the density. */
static void
set_heights(DpGaussianNoise *noise)
{
	double density[DP_NOISE_CELLS];
	double sum = 0;
	uint64 left = ALL_HEIGHTS;

	for (int k = 0; k < DP_NOISE_CELLS; k++)
		density[k] = density_at(noise, k);
	for (int k = TAIL - 1; k >= 0; k--)
		sum += density[k];
	/* room for one unit more in each cell, and for the tail */
	noise->peak = (uint32) ((ALL_HEIGHTS - 2 * DP_NOISE_CELLS) / (sum * (1 + 4 * TABLE_ERROR)));
	for (int k = 0; k < TAIL; k++)
	{
		DpNoiseCell *cell = &noise->cell[k];

		cell->height = (uint32) (noise->peak * density[k] * (1 + TABLE_ERROR)) + 1;
		cell->quick = (uint32) (0x1p32 * (1 - TABLE_ERROR) * noise->peak * density[k + 1] /
								cell->height);
		left -= cell->height;
	}
	noise->cell[TAIL].height = (uint32) left;
	noise->cell[TAIL].quick = 0;
}

/* Walker's table: every slot has DP_NOISE_SHARE, of its own cell and of one other. */
static void
set_aliases(DpGaussianNoise *noise)
{
	uint32 left[DP_NOISE_CELLS];
	int small[DP_NOISE_CELLS];
	int large[DP_NOISE_CELLS] = {0};
	int nsmall = 0;
	int nlarge = 0;

	for (int k = 0; k < DP_NOISE_CELLS; k++)
	{
		left[k] = noise->cell[k].height;
		noise->cell[k].keep = DP_NOISE_SHARE;
		noise->cell[k].other = k;
		if (left[k] < DP_NOISE_SHARE)
			small[nsmall++] = k;
		else
			large[nlarge++] = k;
	}
	/* what is left sums to DP_NOISE_SHARE a slot: where one has less, another has more */
	while (nsmall > 0)
	{
		int k = small[--nsmall];
		int from = large[nlarge - 1];

		noise->cell[k].keep = left[k];
		noise->cell[k].other = from;
		left[from] -= DP_NOISE_SHARE - left[k];
		if (left[from] < DP_NOISE_SHARE)
		{
			nlarge--;
			small[nsmall++] = from;
		}
	}
}

/* dp_gaussian_noise_prepare - make ready for draws; sigma in 1 .. DP_MAX_SIGMA. */
void
dp_gaussian_noise_prepare(DpGaussianNoise *noise, int64 sigma)
{
	Assert(sigma >= 1 && sigma <= DP_MAX_SIGMA);

	noise->sigma = sigma;
	noise->cell_bits = -1;
	noise->unsure = UNSURE;
	if (sigma < LEAST_SIGMA)
		return;
	noise->cell_bits = pg_leftmost_one_pos64((uint64) sigma) - 4;
	set_heights(noise);
	set_aliases(noise);
}

/* *sum = u height exp(x^2/(2 sigma^2)), rounded down or up, or a part of it beyond "most". */
static void
fixed_left_side(uint64 *sum, uint64 *term, const uint64 *most, int whole, int words,
				const DpGaussianNoise *noise, const Proposal *proposal, int known, bool up)
{
	/* of u, which sum holds, the digits not yet known are all 0 or all 1 without end */
	for (int i = whole + known - 1; up && i >= 0; i--)
	{
		if (++sum[i] != 0)
			break;
	}
	dp_fixed_multiply(sum, words, proposal->height);
	memcpy(term, sum, sizeof(uint64) * (words + 1));
	for (uint64 n = 1;; n++)
	{
		bool tiny = term[words] <= 16;

		CHECK_FOR_INTERRUPTS();
		if (dp_fixed_compare(sum, most, words) > 0)
			return;
		for (int i = 0; i < words; i++)
			tiny &= term[i] == 0;
		/* from here on a term is at most half the one before: all of them, at most this */
		if (tiny && (dp_uint128) noise->sigma * noise->sigma * n >=
						(dp_uint128) proposal->size * proposal->size)
			break;
		dp_fixed_multiply(term, words, proposal->size);
		dp_fixed_divide(term, words, (uint64) noise->sigma, up);
		dp_fixed_multiply(term, words, proposal->size);
		dp_fixed_divide(term, words, (uint64) noise->sigma, up);
		dp_fixed_divide(term, words, 2 * n, up);
		dp_fixed_add(sum, term, words);
	}
	if (up)
		dp_fixed_add(sum, term, words);
}

/*
 * Whether u height exp(x^2/(2 sigma^2)) < peak 2^scale, by integers: the left side between
 * bounds, closer and closer until the right one is not between them.  A number's integer
 * part is as long as the right side, which terms never pass, times |x| < 2^62.
 */
static pg_noinline bool
decide_exactly(DpRandom *rng, const DpGaussianNoise *noise, const Proposal *proposal)
{
	int whole = 3 + proposal->scale / 64;
	int shift = proposal->scale % 64;
	uint64 *digits = palloc(sizeof(uint64));
	int result = -1;

	digits[0] = proposal->digits;
	for (int known = 1; result < 0; known++)
	{
		int words = whole + known + 1;
		uint64 *number = palloc0(4 * sizeof(uint64) * (words + 1));
		uint64 *most = number;
		uint64 *low = number + (words + 1);
		uint64 *high = low + (words + 1);
		uint64 *term = high + (words + 1);

		if (known > 1)
		{
			digits = repalloc(digits, known * sizeof(uint64));
			digits[known - 1] = dp_random_u64(rng);
		}
		most[2] = (uint64) noise->peak << shift;
		most[1] = (uint64) (((dp_uint128) noise->peak << shift) >> 64);
		memcpy(low + whole, digits, sizeof(uint64) * known);
		memcpy(high + whole, digits, sizeof(uint64) * known);
		fixed_left_side(low, term, most, whole, words, noise, proposal, known, false);
		fixed_left_side(high, term, most, whole, words, noise, proposal, known, true);
		if (dp_fixed_compare(low, most, words) >= 0)
			result = false;
		else if (dp_fixed_compare(high, most, words) <= 0)
			result = true;
		pfree(number);
	}
	pfree(digits);
	return result;
}

/* Whether u H_k < D(x), where the first 32 bits of u don't tell. */
static pg_noinline bool
decide(DpRandom *rng, const DpGaussianNoise *noise, int64 x, uint32 height, uint32 bits)
{
	Proposal proposal = {.size = (uint64) (x < 0 ? -x : x), .height = height};
	double z = (double) proposal.size / (double) noise->sigma;
	double y = z * z / 2;
	double density = noise->peak * dp_exponential(-y);
	double left;
	double slack;

	proposal.digits = (uint64) bits << 32 | dp_random_u64(rng) >> 32;
	left = (double) proposal.digits * 0x1p-64 * height;
	slack = noise->unsure * (y + 1) * (left + density) + 0x1p-63 * height;
	if (likely(fabs(density - left) > slack))
		return left < density;
	return decide_exactly(rng, noise, &proposal);
}

/* A distance beyond the last cell, and whether it is kept. */
static pg_noinline bool
draw_tail(DpRandom *rng, const DpGaussianNoise *noise, bool negative, int64 *x)
{
	uint32 block = dp_halvings(rng);
	Proposal proposal = {.height = noise->cell[TAIL].height};
	uint64 distance;

	if (block >= MOST_BLOCKS)
		return false;
	distance = (uint64) TAIL << noise->cell_bits;
	distance += (uint64) block << (noise->cell_bits + TAIL_BITS);
	distance += dp_random_u64(rng) >> (64 - noise->cell_bits - TAIL_BITS);
	*x = negative ? -1 - (int64) distance : (int64) distance;
	proposal.size = negative ? distance + 1 : distance;
	proposal.scale = block + 1 + TAIL_BITS;
	proposal.digits = dp_random_u64(rng);
	return decide_exactly(rng, noise, &proposal);
}

/* dp_gaussian_noise_draw - integer noise of a law made ready. */
int64
dp_gaussian_noise_draw(DpRandom *rng, const DpGaussianNoise *noise)
{
	if (unlikely(noise->cell_bits < 0))
		return dp_discrete_gaussian(rng, noise->sigma);

	for (;;)
	{
		uint64 word = dp_random_u64(rng);
		uint32 k = word % DP_NOISE_CELLS;
		bool negative = (word >> 31) & 1;
		int64 x;

		if (((word >> 8) & (DP_NOISE_SHARE - 1)) >= noise->cell[k].keep)
			k = noise->cell[k].other;
		if (unlikely(k == TAIL))
		{
			if (draw_tail(rng, noise, negative, &x))
				return x;
			continue;
		}
		x = (int64) (((uint64) k << noise->cell_bits) |
					 (dp_random_u64(rng) >> (64 - noise->cell_bits)));
		x ^= -(int64) negative; /* -1 - x */
		if (likely((uint32) (word >> 32) < noise->cell[k].quick) ||
			decide(rng, noise, x, noise->cell[k].height, (uint32) (word >> 32)))
			return x;
	}
}
