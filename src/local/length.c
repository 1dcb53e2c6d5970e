/*
 * length.c
 *	  How long terms are taken to be: Estimate_l, under local differential privacy.
 *
 * A user who is asked reports a bit for each length 1 .. longest; a term has one length
 * at most, so the bits are a vector of which two users' truths differ in two places, and
 * the answer is epsilon-private as for the nodes of one depth (oracle.c).
 */
#include "common/dp_base.h"

#include "local/length.h"

/* The share of the users whose terms must fit: the paper's lambda, section V. */
#define LENGTH_COVERED 0.85

/*
 * The smallest length within which so large a share of the estimates lies.  Algorithm 5
 * adds up raw estimates, whose sums need not grow: one that lies below 0 is 0 here.
 */
static int
covering_length(const Oracle *oracle, const int64 *supported, int64 answered, int longest)
{
	double total = 0;
	double covered = 0;

	for (int i = 0; i < longest; i++)
		total += Max(0, oracle_estimate(oracle, supported[i], answered));
	if (total <= 0)
		return longest;
	for (int i = 0; i < longest; i++)
	{
		covered += Max(0, oracle_estimate(oracle, supported[i], answered));
		if (covered >= LENGTH_COVERED * total)
			return i + 1;
	}
	return longest;
}

/*
 * Asks the users at places from .. to - 1 (Algorithm 5, Estimate_l; longest is its tau).
 * Where nothing can be learned the length is the longest.  Errors: DP_ERR_DOMAIN.
 */
DpStatus
local_length(const Poll *poll, int64 from, int64 to, double epsilon, int longest, int *length)
{
	Oracle oracle;
	int64 *supported;
	int64 answered;
	DpStatus status = oracle_bits(epsilon, &oracle);

	if (status != DP_OK)
		return status;
	supported = palloc(longest * sizeof(int64));
	answered = poll->ask_lengths(poll->state, longest, from, to, &oracle, supported);
	*length = covering_length(&oracle, supported, answered, longest);
	pfree(supported);
	return DP_OK;
}
