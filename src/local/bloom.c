/*
 * bloom.c
 *	  RAPPOR's Bloom filters: which bits a value sets, and how a client reports them.
 *
 * Erlingsson, Pihur, Korolova, "RAPPOR", CCS 2014, section 2.  A value sets h of k bits,
 * which ones depends on the client's cohort, so that two values that collide in one
 * cohort do not in another.  No value at all sets none.
 *
 * Privacy.  Each bit is reported on its own: 1 with probability q* if it is truly 1, with
 * p* < q* if it is truly 0.  Let one value set a bits that another does not, and the other
 * b bits that the first does not; a, b <= h.  An answer is likeliest under the first, as
 * compared with the second, if it has the a bits and lacks the b: the ratio is
 *
 *		(q*' / p*)^a ((1 - p*) / (1 - q*))^b  <=  (q* (1 - p*) / (p* (1 - q*)))^h,
 *
 * and is reached where the values share no bit.  So h, not 2h, stands before the logarithm
 * of the two quotients' product (their Theorem 2).  Permanent bits differ from the true
 * ones with probability f/2, q* = 1 - f/2 = 1 - p*, the quotients are alike, and the same
 * bound reads 2h ln((1 - f/2) / (f/2)) (their Theorem 1).  Values set exactly h bits here,
 * for hashes that collide would give away nothing but accuracy.
 *
 * Parameters.  For one collection there are no permanent bits, q = 1/2, and
 * p = 1/(e^(epsilon/h) + 1): of all p and q of the same ratio these have the least variance
 * p (1 - p) / (q - p)^2 of the number of users with a rare value (Wang et al., USENIX
 * Security 2017, section 4: optimised unary encoding), and most values leave a bit 0.  For
 * the same epsilon, h = 1 has the least variance, too: each of h bits gets epsilon/h.
 * For repeated collections f comes from what all reports may reveal together; then p and
 * q so that one report has q* = 1/2 where f allows it, else p = 0, which is as near as
 * possible.
 *
 * Exactness: as in oracle.c.  Permanent bits need no memory: they are a pseudorandom
 * function (HMAC-SHA-256) of the client's secret and the value, so that the same value has
 * the same permanent bits in every report.  Their privacy is that of the secret, which must
 * never leave the client.  Cohort, role, k, h and f are arguments of the function, too:
 * one who saw the same flips applied to other true bits, or two sets of flips that nest
 * because they came from the same numbers, would see through both.  So if any of these
 * changes, the permanent bits are independent, and their lifetimes add up.  (A term's
 * symbols are those of an alphabet: the caller has a secret for each, local_encode.c.)
 * Whether two reports are of one value is not hidden from who has many of both.
 */
#include "common/dp_base.h"

#include <math.h>

#include "common/hmac.h"
#include "common/sha2.h"
#include "local/bloom.h"
#include "port/pg_bswap.h"

/* Instantaneous bits are computed from a difference: this covers what that loses. */
#define REPEATED_MARGIN 1e-9L
/* ... where one bit's epsilon is at most this: p* >= 1e-7. */
#define REPEATED_MAX_EPSILON 16.0

/* Words that bloom_trials() takes at most, and the HMACs that fill as many. */
#define TRIAL_WORDS 64
#define TRIAL_BLOCKS (TRIAL_WORDS * 8 / PG_SHA256_DIGEST_LENGTH)

static DpStatus
set_shape(int bits, int hashes, Bloom *bloom)
{
	if (bits < 2 || bits > BLOOM_MAX_BITS || hashes < 1 || hashes > BLOOM_MAX_HASHES ||
		hashes >= bits)
		return DP_ERR_DOMAIN;
	*bloom = (Bloom){.bits = bits, .hashes = hashes};
	return DP_OK;
}

static double
as_probability(uint64 units)
{
	return (double) units / (double) ORACLE_ONE;
}

/* For one collection: no permanent bits; errors: DP_ERR_DOMAIN. */
DpStatus
bloom_once(double epsilon, int bits, int hashes, Bloom *bloom)
{
	Oracle oracle;
	DpStatus status = set_shape(bits, hashes, bloom);

	if (status == DP_OK)
		status = oracle_bits(epsilon / hashes, &oracle);
	if (status != DP_OK)
		return status;
	bloom->yes = oracle.yes;
	bloom->no = oracle.no;
	bloom->one = as_probability(bloom->yes);
	bloom->zero = as_probability(bloom->no);
	return DP_OK;
}

/*
 * p and q that make q* (1 - p*) / (p* (1 - q*)) = e^x with permanent bits that are wrong
 * with probability a: from q* = (1 - a) q + a p and p* = (1 - a) p + a q.
 */
static void
instantaneous(long double x, long double a, long double *p, long double *q)
{
	long double one = 0.5L;
	long double zero = 1.0L / (expl(x) + 1.0L);
	long double apart = (one - zero) / (1.0L - 2.0L * a);

	*q = (one + zero + apart) / 2.0L;
	*p = (one + zero - apart) / 2.0L;
	if (*p >= 0.0L)
		return;
	*p = 0.0L;
	*q = (a * expl(x) - (1.0L - a)) / (a * (1.0L - a) * (expl(x) - 1.0L));
	*q = Max(0.0L, Min(1.0L, *q));
}

/*
 * For repeated collections: one report has epsilon, all reports of the same value
 * together, however many, have lifetime >= epsilon.  Errors: DP_ERR_DOMAIN.
 */
DpStatus
bloom_repeated(double epsilon, double lifetime, int bits, int hashes, Bloom *bloom)
{
	Oracle permanent;
	Oracle report;
	long double p;
	long double q;
	DpStatus status = set_shape(bits, hashes, bloom);

	if (status == DP_OK)
		status = oracle_sign(lifetime / hashes / 2, &permanent);
	if (status == DP_OK)
		status = oracle_bits(epsilon / hashes, &report); /* is epsilon in its domain? */
	if (status == DP_OK && (epsilon > lifetime || epsilon / hashes > REPEATED_MAX_EPSILON))
		status = DP_ERR_DOMAIN;
	if (status != DP_OK)
		return status;
	bloom->flip = permanent.no;
	instantaneous((long double) epsilon / hashes * (1.0L - REPEATED_MARGIN),
				  (long double) bloom->flip / ORACLE_ONE, &p, &q);
	bloom->yes = (uint64) floorl(q * (long double) ORACLE_ONE);
	bloom->no = (uint64) ceill(p * (long double) ORACLE_ONE);
	bloom->one = (double) ((long double) bloom->yes / ORACLE_ONE -
						   as_probability(bloom->flip) * (q - p));
	bloom->zero = (double) ((long double) bloom->no / ORACLE_ONE +
							as_probability(bloom->flip) * (q - p));
	return DP_OK;
}

/*
 * The bits that an item sets in a cohort.  Public, the same everywhere and always: a
 * client in another language must set the same bits.  The role keeps what is said of
 * different parts of a term apart.
 */
uint64
bloom_item_bits(const Bloom *bloom, uint32 cohort, uint32 role, uint64 item)
{
	uint64 seed = dp_mix64(dp_mix64((uint64) role << 32 | cohort, item), bloom->bits);
	uint64 set = 0;
	int n = 0;

	for (uint64 turn = 0; n < bloom->hashes; turn++)
	{
		uint64 bit = ((dp_uint128) dp_mix64(seed, turn) * (uint64) bloom->bits) >> 64;

		if ((set >> bit & 1) == 0)
			n++;
		set |= UINT64CONST(1) << bit;
	}
	return set;
}

/* ---- the client's half ---- */

/*
 * 64 independent trials, each true with the probability, in units of 2^-ORACLE_BITS.
 *
 * In each trial a uniform number is compared with the probability, digit by digit from
 * the highest, all 64 at once; what is decided stays so.  It ends when all are decided, or
 * when only zeros of the probability are left, of which none can be less.
 */
uint64
bloom_trials(DpRandom *rng, uint64 probability)
{
	uint64 open = ~UINT64CONST(0);
	uint64 success = 0;

	if (probability >= ORACLE_ONE)
		return open;
	for (int digit = ORACLE_BITS - 1;
		 digit >= 0 && open != 0 && (probability << (63 - digit)) != 0; digit--)
	{
		uint64 random = dp_random_u64(rng);

		if ((probability >> digit & 1) != 0)
		{
			success |= open & ~random;
			open &= random;
		}
		else
			open &= ~random;
	}
	return success;
}

/* One block of the pseudorandom function's words; false: out of memory. */
static bool
hmac_block(pg_hmac_ctx *hmac, const uint8 *secret, int secret_length, const uint8 *message,
		   int length, uint8 block, uint8 *digest)
{
	return pg_hmac_init(hmac, secret, secret_length) >= 0 &&
		   pg_hmac_update(hmac, &block, 1) >= 0 &&
		   pg_hmac_update(hmac, message, length) >= 0 &&
		   pg_hmac_final(hmac, digest, PG_SHA256_DIGEST_LENGTH) >= 0;
}

/* Fills a generator with all the words that trials of one filter can take. */
static bool
keyed_words(const uint8 *secret, int secret_length, const uint8 *message, int length,
			DpRandom *words)
{
	pg_hmac_ctx *hmac = pg_hmac_create(PG_SHA256);
	bool filled = hmac != NULL;
	uint64 word[TRIAL_WORDS] = {0};

	for (int block = 0; filled && block < TRIAL_BLOCKS; block++)
		filled = hmac_block(hmac, secret, secret_length, message, length, (uint8) block,
							(uint8 *) word + block * PG_SHA256_DIGEST_LENGTH);
	if (hmac != NULL)
		pg_hmac_free(hmac);
	for (int i = 0; i < TRIAL_WORDS; i++)
		word[i] = pg_ntoh64(word[i]); /* the same on every machine */
	dp_random_system(words, NULL);
	words->left = sizeof(word);
	memcpy(words->buffer + DP_RANDOM_BUFFER - sizeof(word), word, sizeof(word));
	explicit_bzero(word, sizeof(word));
	return filled;
}

/* A number's last bytes, the highest first; returns the place after them. */
static uint8 *
put_bytes(uint8 *to, uint64 number, int bytes)
{
	for (int i = bytes - 1; i >= 0; i--)
		*to++ = (uint8) (number >> (8 * i));
	return to;
}

#define MESSAGE_HEAD 18

/* All that the true bits and the flips depend on; the value at the end. */
static uint8 *
permanent_message(const Bloom *bloom, uint32 cohort, uint32 role, const uint16 *symbol, int n,
				  int *length)
{
	uint8 *message = palloc(MESSAGE_HEAD + 2 * n);
	uint8 *to = message;

	to = put_bytes(to, bloom->flip, 8);
	to = put_bytes(to, bloom->bits, 2);
	to = put_bytes(to, bloom->hashes, 2);
	to = put_bytes(to, cohort, 2);
	to = put_bytes(to, role, 2);
	to = put_bytes(to, n, 2);
	for (int i = 0; i < n; i++)
		to = put_bytes(to, symbol[i], 2);
	*length = (int) (to - message);
	return message;
}

/*
 * A client's permanent bits of a value, given its true bits.  Errors: DP_ERR_DOMAIN
 * without a secret, DP_ERR_RANGE if the hash fails for want of memory.
 */
DpStatus
bloom_permanent(const Bloom *bloom, const uint8 *secret, int secret_length, uint32 cohort,
				uint32 role, const uint16 *symbol, int n, uint64 truth, uint64 *permanent)
{
	DpRandom words;
	uint8 *message;
	int length;
	bool filled;

	if (secret == NULL || secret_length < 1)
		return DP_ERR_DOMAIN;
	message = permanent_message(bloom, cohort, role, symbol, n, &length);
	filled = keyed_words(secret, secret_length, message, length, &words);
	if (filled)
		*permanent = truth ^ bloom_trials(&words, bloom->flip);
	explicit_bzero(message, length);
	pfree(message);
	dp_random_clear(&words);
	return filled ? DP_OK : DP_ERR_RANGE;
}

/* What is reported, of bits that are the true ones, or permanent ones if there are any. */
uint64
bloom_answer(const Bloom *bloom, DpRandom *rng, uint64 permanent)
{
	uint64 yes = bloom_trials(rng, bloom->yes);
	uint64 no = bloom_trials(rng, bloom->no);

	return ((permanent & yes) | (~permanent & no)) &
		   (~UINT64CONST(0) >> (BLOOM_MAX_BITS - bloom->bits));
}
