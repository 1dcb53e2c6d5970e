/*
 * test_weights.c
 *	  Weights in proportion to biases: their norm is at most 1, exactly, and they are as
 *	  large as that allows.
 */
#include "common/dp_weights.h"

#include "common/dp_gaussian.h"
#include "common/dp_random.h"
#include "common/dp_sample.h"
#include "tap.h"

#define ONE_SQUARED ((dp_uint128) DP_LATTICE_ONE * DP_LATTICE_ONE)

static DpRandom rng;
static uint32 bias[DP_MAX_KEYS];

/* The largest w with w^2 Q <= 2^40 b^2? */
static bool
is_floor(int64 w, uint64 square, uint32 b)
{
	dp_uint128 most = ONE_SQUARED * b * b;

	return w >= 0 && (dp_uint128) w * w * square <= most &&
		   (dp_uint128) (w + 1) * (w + 1) * square > most;
}

/* All the weights of a user with the first n biases: each exact, the norm at most 1. */
static bool
user_is_right(int n)
{
	dp_uint128 norm = 0;
	uint64 square = 0;
	bool right = true;
	DpNorm all;

	for (int i = 0; i < n; i++)
		square += (uint64) bias[i] * bias[i];
	all = dp_norm(square);
	for (int i = 0; i < n; i++)
	{
		int64 w = dp_biased_weight(all, bias[i]);

		right &= is_floor(w, square, bias[i]);
		norm += (dp_uint128) w * w;
	}
	return right && norm <= ONE_SQUARED;
}

/* A bias of one of several habits: any, small or large ones, most of them 1 or most whole. */
static uint32
random_bias(int habit)
{
	uint64 word = dp_random_u64(&rng);
	uint32 any = 1 + (uint32) (word % DP_BIAS_ONE);

	switch (habit)
	{
		case 0:
			return any;
		case 1:
			return 1 + (any - 1) / (1 << (word >> 60));
		case 2:
			return word >> 60 ? 1 : any;
		case 3:
			return word >> 60 ? DP_BIAS_ONE : any;
		default:
			return (word >> 32) % 1000 ? 1 : DP_BIAS_ONE;
	}
}

static void
test_random_users(int n, int users)
{
	bool right = true;

	for (int i = 0; i < users; i++)
	{
		for (int j = 0; j < n; j++)
			bias[j] = random_bias(i % 5);
		right &= user_is_right(n);
	}
	ok(right, "%d users of %d n-grams: every weight exact, every norm at most 1", users, n);
}

/* One n-gram of bias b beside n-1 of bias c, at the ends of both. */
static void
test_extremes(void)
{
	const int counts[] = {1, 2, 3, 4, 1000, 65535, DP_MAX_KEYS - 1, DP_MAX_KEYS};
	const uint32 ends[] = {1, 2, DP_BIAS_ONE - 1, DP_BIAS_ONE};
	bool right = true;

	for (size_t i = 0; i < lengthof(counts) * 16; i++)
	{
		int n = counts[i / 16];

		for (int j = 0; j < n; j++)
			bias[j] = ends[i % 4];
		bias[n / 2] = ends[i / 4 % 4];
		right &= user_is_right(n);
	}
	ok(right, "the least and the largest biases, up to 2^20 of them");
}

static void
test_unbiased(void)
{
	bool same = true;

	for (uint64 n = 1; n <= DP_MAX_KEYS; n++)
	{
		DpNorm norm = dp_norm(n * DP_BIAS_ONE * DP_BIAS_ONE);

		same &= dp_biased_weight(norm, DP_BIAS_ONE) == dp_lattice_weight(n);
		norm = dp_norm(n);
		same &= dp_biased_weight(norm, 1) == dp_lattice_weight(n);
	}
	ok(same, "equal biases, whatever they are: the weights without any, for 1 to 2^20 n-grams");
}

/* The squared length of a - b: a user with n n-grams, and the same with m of them. */
static double
squared_difference(uint64 n, uint64 m)
{
	double a = (double) dp_lattice_weight(n) / DP_LATTICE_ONE;
	double b = (double) dp_lattice_weight(m) / DP_LATTICE_ONE;

	return m * (a - b) * (a - b) + (n - m) * a * a;
}

/*
 * A person who loses some rows moves by more than one who is taken away as a whole: why a
 * rolling window promises less for one moment's rows of a person who has others (doc/privacy.md,
 * "Renewal").
 */
static void
test_partial_removal(void)
{
	double worst = 0;

	for (uint64 n = 2; n <= 4096; n++)
		for (uint64 m = 1; m < n; m = 1 + m + m / 8)
			worst = Max(worst, squared_difference(n, m));
	ok(fabs(squared_difference(101, 1) - 1.80) < 0.005,
	   "of 101 n-grams one is left: %.3f where the charge is for 1", squared_difference(101, 1));
	ok(worst > 1.9 && worst <= 2, "some rows removed: up to %.4f, and never more than 2", worst);
}

/* Where w comes out whole, a rounding of doubles either way would show. */
static void
test_steps(void)
{
	bool right = true;

	for (uint32 b = 1; b <= DP_BIAS_ONE; b++)
		for (uint64 w = 1; w <= DP_LATTICE_ONE; w += 1 + w / 20)
		{
			/* the Q at which the weight falls from w on to less */
			uint64 step = (uint64) (ONE_SQUARED * b * b / ((dp_uint128) w * w));

			for (uint64 square = step - 1; square <= step + 1; square++)
				if (square >= (uint64) b * b && square <= (UINT64CONST(1) << 40))
					right &= is_floor(dp_biased_weight(dp_norm(square), b), square, b);
		}
	ok(right, "at the norms where a weight changes");
}

/* The checks above can fail: weights rounded to nearest break the norm. */
static void
test_nearest(void)
{
	int beyond = 0;

	for (int n = 2; n < 1000; n++)
	{
		int64 w = dp_biased_weight(dp_norm(n), 1);

		if ((2 * w + 1) * (2 * w + 1) * n <= 4 * (int64) ONE_SQUARED)
			w++;
		beyond += (dp_uint128) w * w * n > ONE_SQUARED;
	}
	ok(beyond > 300, "rounded to nearest, %d of 998 norms would exceed 1", beyond);
}

int
main(void)
{
	dp_random_seeded(&rng, 20, 21, 22);
	test_random_users(1, 5000);
	test_random_users(2, 500000);
	test_random_users(7, 300000);
	test_random_users(100, 30000);
	test_random_users(10000, 300);
	test_random_users(DP_MAX_KEYS, 10);
	test_extremes();
	test_unbiased();
	test_steps();
	test_partial_removal();
	test_nearest();
	return tap_done();
}
