/*
 * methods.c
 *	  A method by its name, with its defaults, among the users of a poll.
 *
 * PEM, TreeHist and A-RAPPOR take all terms to be of one length.  They are told it by some of the
 * users (Estimate_l, as in section V of the PrivTrie paper, which spends a part of epsilon
 * on it instead); the others report with all of epsilon, and none of them is asked about
 * the length.  So each user answers once.
 */
#include "common/dp_base.h"

#include "local/bsl.h"
#include "local/length.h"
#include "local/local.h"
#include "local/pem.h"
#include "local/privtrie.h"
#include "local/rappor.h"
#include "local/treehist.h"

/* One user in so many is asked about the length: the paper's 0.1. */
#define LENGTH_ONE_IN 10

/* Asks the first users how long terms are; the query becomes that of the others. */
static DpStatus
ask_length(LocalQuery *query, const Poll *poll, int64 *first)
{
	*first = poll->users / LENGTH_ONE_IN;
	return local_length(poll, 0, *first, query->epsilon, query->max_length, &query->max_length);
}

static DpStatus
run_pem(const LocalQuery *query, const Poll *poll, LocalResult *result)
{
	PemQuery pem = pem_defaults(query);
	DpStatus status = ask_length(&pem.base, poll, &pem.first);

	return status == DP_OK ? pem_run(&pem, poll, result) : status;
}

static DpStatus
run_treehist(const LocalQuery *query, const Poll *poll, DpRandom *rng, LocalResult *result)
{
	TreeHistQuery treehist = treehist_defaults(query);
	DpStatus status = ask_length(&treehist.base, poll, &treehist.first);

	treehist.key = dp_random_u64(rng);
	return status == DP_OK ? treehist_run(&treehist, poll, rng, result) : status;
}

/*
 * A term that is too long is lost whole here, not cut.  So one more n-gram fits than the
 * length says, and all that the last one has room for.
 */
static DpStatus
run_rappor(const LocalQuery *query, const Poll *poll, DpRandom *rng, LocalResult *result)
{
	RapporQuery rappor = rappor_defaults(query);
	DpStatus status = ask_length(&rappor.base, poll, &rappor.first);
	int grams = (rappor.base.max_length - 1) / rappor.gram + 2;

	rappor.base.max_length = Min(query->max_length, grams * rappor.gram);
	return status == DP_OK ? rappor_run(&rappor, poll, rng, result) : status;
}

/*
 * Can the method take terms of such an alphabet, as long as that, with such an epsilon?  To
 * be asked before users are.  Errors: DP_ERR_DOMAIN, DP_ERR_RANGE.
 */
DpStatus
local_check(LocalMethod method, const LocalQuery *query)
{
	PemQuery pem = pem_defaults(query);
	TreeHistQuery treehist = treehist_defaults(query);
	RapporQuery rappor = rappor_defaults(query);
	PemPlan pem_made;
	TreeHistPlan treehist_made;
	RapporPlan rappor_made;

	switch (method)
	{
		case LOCAL_BSL:
			return bsl_check(query);
		case LOCAL_PEM:
			return pem_plan(&pem, LOCAL_TICKETS, &pem_made);
		case LOCAL_TREEHIST:
			return treehist_plan(&treehist, LOCAL_TICKETS, &treehist_made);
		case LOCAL_RAPPOR:
			return rappor_plan(&rappor, &rappor_made);
		default:
			return DP_OK;
	}
}

/*
 * Runs the method.  The users' randomness is the poll's, and where they go through their
 * half here, the generator's.  Errors: those of the method.
 */
DpStatus
local_run(LocalMethod method, const LocalQuery *query, const Poll *poll, DpRandom *rng,
		  LocalResult *result)
{
	switch (method)
	{
		case LOCAL_PRIVTRIE:
			return privtrie_run(query, poll, result);
		case LOCAL_IBSL:
			return ibsl_run(query, poll, result);
		case LOCAL_BSL:
			return bsl_run(query, poll, result);
		case LOCAL_PEM:
			return run_pem(query, poll, result);
		case LOCAL_TREEHIST:
			return run_treehist(query, poll, rng, result);
		case LOCAL_RAPPOR:
			return run_rappor(query, poll, rng, result);
		default:
			return DP_ERR_DOMAIN;
	}
}
