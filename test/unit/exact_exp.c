/*
 * exact_exp.c
 *	  Is a quotient of integers at most e^x?  Answered without floating point.
 *
 * The code under test computes e^x by libm.  What judges it must not: here e^x is enclosed
 * between two fixed-point numbers by its Taylor series, with every rounding to the safe
 * side, in integers of OpenSSL's.
 */
#include "exact_exp.h"

#include <math.h>
#include <openssl/bn.h>

/* Binary places of the fixed-point numbers. */
#define PLACES 384

/* The series is taken at x / 2^HALVINGS, at most 1/4 for x up to 64, and squared so often. */
#define HALVINGS 8

/* The term x^n / n! of this n lies below 2^-PLACES. */
#define TERMS 80

typedef struct Workspace
{
	BN_CTX *context;
	BIGNUM *low;
	BIGNUM *high;
	BIGNUM *x;
	BIGNUM *term;
	BIGNUM *left;
	BIGNUM *right;
} Workspace;

/* Out of memory, the only way in which these fail. */
static void
must(int succeeded)
{
	if (!succeeded)
		abort();
}

static void
begin(Workspace *w)
{
	w->context = BN_CTX_new();
	must(w->context != NULL);
	BN_CTX_start(w->context);
	w->low = BN_CTX_get(w->context);
	w->high = BN_CTX_get(w->context);
	w->x = BN_CTX_get(w->context);
	w->term = BN_CTX_get(w->context);
	w->left = BN_CTX_get(w->context);
	w->right = BN_CTX_get(w->context);
	must(w->right != NULL);
}

static void
end(Workspace *w)
{
	BN_CTX_end(w->context);
	BN_CTX_free(w->context);
}

/* x 2^-HALVINGS, exactly; x is positive and no multiple of 2^-(PLACES - HALVINGS) is lost. */
static void
set_argument(Workspace *w, double x)
{
	int exponent;
	uint64 mantissa = (uint64) ldexp(frexp(x, &exponent), 53);

	must(x > 0 && exponent - 53 + PLACES - HALVINGS >= 0);
	must(BN_set_word(w->x, mantissa));
	must(BN_lshift(w->x, w->x, PLACES - HALVINGS + exponent - 53));
}

/* The product of fixed-point numbers, rounded down or up. */
static void
multiply(Workspace *w, BIGNUM *product, const BIGNUM *a, const BIGNUM *b, bool up)
{
	must(BN_mul(product, a, b, w->context));
	must(BN_rshift(product, product, PLACES));
	if (up)
		must(BN_add_word(product, 1));
}

/* sum, a bound of e^x from below or from above. */
static void
bound_exp(Workspace *w, BIGNUM *sum, double x, bool up)
{
	set_argument(w, x);
	must(BN_one(w->term));
	must(BN_lshift(w->term, w->term, PLACES));
	must(BN_copy(sum, w->term) != NULL);
	for (int n = 1; n <= TERMS; n++)
	{
		multiply(w, w->term, w->term, w->x, up);
		must(BN_div_word(w->term, n) != (BN_ULONG) -1);
		if (up)
			must(BN_add_word(w->term, 1));
		must(BN_add(sum, sum, w->term));
	}
	/* what is left is less than the last term, each being at most 1/4 of the one before */
	if (up)
		must(BN_add(sum, sum, w->term));
	for (int i = 0; i < HALVINGS; i++)
		multiply(w, sum, sum, sum, up);
}

static void
product_of(Workspace *w, BIGNUM *product, const dp_uint128 *factor, int n)
{
	must(n <= QUOTIENT_FACTORS && BN_one(product));
	for (int i = 0; i < n; i++)
	{
		must(BN_set_word(w->x, (uint64) (factor[i] >> 64)));
		must(BN_lshift(w->x, w->x, 64));
		must(BN_set_word(w->term, (uint64) factor[i]));
		must(BN_add(w->x, w->x, w->term));
		must(BN_mul(product, product, w->x, w->context));
	}
}

/* Is the quotient <= e^x?  The answer is yes only if it is certain; over 0 it is no. */
bool
quotient_at_most_exp(const Quotient *q, double x)
{
	Workspace w;
	bool result;

	begin(&w);
	bound_exp(&w, w.low, x, false);
	product_of(&w, w.left, q->num, q->factors);
	product_of(&w, w.right, q->den, q->factors);
	must(BN_lshift(w.left, w.left, PLACES));
	must(BN_mul(w.right, w.right, w.low, w.context));
	result = !BN_is_zero(w.right) && BN_cmp(w.left, w.right) <= 0;
	end(&w);
	return result;
}

/* Is the quotient >= e^x (1 - tolerance)?  Yes only if it is certain; tolerance < 1. */
bool
quotient_near_exp(const Quotient *q, double x, double tolerance)
{
	Workspace w;
	bool result;

	begin(&w);
	bound_exp(&w, w.high, x, true);
	product_of(&w, w.left, q->num, q->factors);
	product_of(&w, w.right, q->den, q->factors);
	must(BN_lshift(w.left, w.left, PLACES + 62));
	must(BN_mul(w.right, w.right, w.high, w.context));
	must(BN_set_word(w.x, (uint64) ldexp(1 - tolerance, 62)));
	must(BN_mul(w.right, w.right, w.x, w.context));
	result = BN_cmp(w.left, w.right) >= 0;
	end(&w);
	return result;
}

/* Do the bounds lie between two numbers, of the same 80 decimal places, written as integers? */
bool
exact_exp_encloses(double x, const char *low, const char *high)
{
	Workspace w;
	BIGNUM *bound[2] = {NULL, NULL};
	bool result;

	begin(&w);
	bound_exp(&w, w.low, x, false);
	bound_exp(&w, w.high, x, true);
	must(BN_dec2bn(&bound[0], low) > 0 && BN_dec2bn(&bound[1], high) > 0);
	for (int i = 0; i < 80; i++)
		must(BN_mul_word(w.low, 10) && BN_mul_word(w.high, 10));
	must(BN_lshift(bound[0], bound[0], PLACES) && BN_lshift(bound[1], bound[1], PLACES));
	result = BN_cmp(bound[0], w.low) <= 0 && BN_cmp(w.low, w.high) < 0 &&
			 BN_cmp(w.high, bound[1]) <= 0;
	BN_free(bound[0]);
	BN_free(bound[1]);
	end(&w);
	return result;
}
