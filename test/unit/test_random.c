/*
 * test_random.c
 *	  The random source: buffering, wiping, failure, and the seeded generator.
 *
 * The operating system's generator is replaced by one that the test can read
 * and break.
 */
#include "common/dp_random.h"

#include <setjmp.h>

#include "tap.h"

static int system_calls = 0;
static bool system_fails = false;
static jmp_buf failed;

/* Takes the place of libpgport's: byte i of the n-th call is n + 7 i. */
bool
pg_strong_random(void *buf, size_t len)
{
	if (system_fails)
		return false;
	system_calls++;
	for (size_t i = 0; i < len; i++)
		((uint8 *) buf)[i] = (uint8) (system_calls + 7 * i);
	return true;
}

static void
on_failure(void)
{
	longjmp(failed, 1);
}

static bool
all_zero(const uint8 *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		if (bytes[i] != 0)
			return false;
	}
	return true;
}

static void
test_buffer(void)
{
	static DpRandom rng;
	const int words = DP_RANDOM_BUFFER / (int) sizeof(uint64);
	bool right = true;
	bool wiped = true;

	dp_random_system(&rng, on_failure);
	ok(system_calls == 0, "nothing is drawn before it is needed");
	for (int call = 1; call <= 3; call++)
	{
		for (int i = 0; i < words; i++)
		{
			uint64 word = dp_random_u64(&rng);

			for (int b = 0; b < 8; b++)
				right &= ((uint8 *) &word)[b] == (uint8) (call + 7 * (8 * i + b));
			wiped &= all_zero(rng.buffer, 8 * (i + 1));
		}
	}
	ok(right, "every byte of the system's is served once, in order");
	ok(wiped, "served words are wiped");
	ok(system_calls == 3, "the system is asked for %d bytes at a time", DP_RANDOM_BUFFER);

	(void) dp_random_u64(&rng);
	dp_random_clear(&rng);
	ok(all_zero((uint8 *) &rng, sizeof(rng)), "dp_random_clear wipes everything");
}

static void
test_failure(void)
{
	static DpRandom rng;
	static volatile bool served = false;

	dp_random_system(&rng, on_failure);
	system_fails = true;
	if (setjmp(failed) == 0)
	{
		(void) dp_random_u64(&rng);
		served = true;
	}
	ok(!served, "without randomness the failure function is called, and nothing is served");
	ok(rng.left == 0, "and nothing is left to serve later");
	system_fails = false;
}

static void
test_seeded(void)
{
	static DpRandom a;
	static DpRandom b;
	uint64 keys[4][3] = {{1, 2, 3}, {4, 2, 3}, {1, 4, 3}, {1, 2, 4}};
	bool same = true;
	int calls = system_calls;

	dp_random_seeded(&a, 1, 2, 3);
	dp_random_seeded(&b, 1, 2, 3);
	for (int i = 0; i < 1000; i++)
		same &= dp_random_u64(&a) == dp_random_u64(&b);
	ok(same, "the seeded generator repeats itself");
	for (int i = 1; i < 4; i++)
	{
		dp_random_seeded(&a, keys[0][0], keys[0][1], keys[0][2]);
		dp_random_seeded(&b, keys[i][0], keys[i][1], keys[i][2]);
		ok(dp_random_u64(&a) != dp_random_u64(&b), "its word %d of three keys matters", i);
	}
	ok(system_calls == calls, "it never asks the system");
}

/* On average 32 of 64 bits change; over 4096 pairs the mean is within .4 of it. */
static void
test_mix(void)
{
	double changed[2] = {0, 0};

	for (uint64 i = 0; i < 4096; i++)
	{
		uint64 a = i >> 6;
		uint64 b = i & 63;
		uint64 bit = UINT64CONST(1) << (i % 64);

		changed[0] += __builtin_popcountll(dp_mix64(a, b) ^ dp_mix64(a ^ bit, b)) / 4096.0;
		changed[1] += __builtin_popcountll(dp_mix64(a, b) ^ dp_mix64(a, b ^ bit)) / 4096.0;
	}
	ok(changed[0] > 31.6 && changed[0] < 32.4,
	   "dp_mix64: each bit of the first word moves half the bits");
	ok(changed[1] > 31.6 && changed[1] < 32.4, "dp_mix64: each bit of the second word does");
	ok(dp_mix64(1, 2) != dp_mix64(2, 1), "dp_mix64 is not symmetric");
	ok(dp_mix64(0, 0) != 0, "dp_mix64 has no fixed point at 0");
}

int
main(void)
{
	test_buffer();
	test_failure();
	test_seeded();
	test_mix();
	return tap_done();
}
