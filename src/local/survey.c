/*
 * survey.c
 *	  What was answered about each node of a trie, by one oracle, and what that says.
 */
#include "common/dp_base.h"

#include <math.h>

#include "common/dp_normal.h"
#include "local/survey.h"

/* False prefixes that one false prefix breeds, see survey_threshold(). */
#define BREED (2.0 / 3.0)

#define INITIAL_CAPACITY 1024

/* Answers by bits with an epsilon; errors: DP_ERR_DOMAIN. */
DpStatus
survey_init(Survey *survey, double epsilon)
{
	*survey = (Survey){.epsilon = epsilon, .capacity = INITIAL_CAPACITY};
	survey->answers = palloc0(survey->capacity * sizeof(NodeAnswers));
	if (oracle_bits(epsilon, &survey->oracle) != DP_OK)
	{
		survey_free(survey);
		return DP_ERR_DOMAIN;
	}
	survey->null_variance = oracle_variance(&survey->oracle, 0, 1);
	return DP_OK;
}

void
survey_free(Survey *survey)
{
	if (survey->answers != NULL)
		pfree(survey->answers);
	survey->answers = NULL;
}

/* Nodes that the trie has got since were not answered about. */
void
survey_make_room(Survey *survey, const Trie *trie)
{
	int32 old = survey->capacity;

	if (trie->size <= old)
		return;
	while (survey->capacity < trie->size)
		survey->capacity *= 2;
	survey->answers = repalloc(survey->answers, survey->capacity * sizeof(NodeAnswers));
	memset(survey->answers + old, 0, (survey->capacity - old) * sizeof(NodeAnswers));
}

/* So many more answers about each of the nodes. */
void
survey_add(Survey *survey, const int32 *nodes, int n, const int64 *supported, int64 answered)
{
	for (int i = 0; i < n; i++)
	{
		survey->answers[nodes[i]].supported += supported[i];
		survey->answers[nodes[i]].answered += answered;
	}
}

/* Asks the users at places from .. to - 1 about the nodes. */
void
survey_ask(Survey *survey, const Poll *poll, const Trie *trie, const int32 *nodes, int n,
		   int64 from, int64 to)
{
	int64 *supported;
	int64 answered;

	survey_make_room(survey, trie);
	if (n == 0 || from >= to)
		return;
	supported = palloc(n * sizeof(int64));
	answered = poll->ask(poll->state, trie, nodes, n, from, to, &survey->oracle, supported);
	survey_add(survey, nodes, n, supported, answered);
	pfree(supported);
}

/* The share of the users who hold a node's prefix; unbiased, so it may lie beyond 0 and 1. */
double
survey_share(const Survey *survey, int32 node)
{
	const NodeAnswers *answers = &survey->answers[node];

	if (answers->answered == 0)
		return 0;
	return oracle_estimate(&survey->oracle, answers->supported, answers->answered) /
		   (double) answers->answered;
}

/* The standard deviation of a share of so many, where nobody holds the prefix. */
double
survey_null_deviation(const Survey *survey, double answered)
{
	return sqrt(survey->null_variance / answered);
}

/*
 * By how many standard deviations a prefix must stand out if it is looked at so often.
 *
 * Of a prefix that nobody holds all children are held by nobody; each that passes breeds
 * as many again.  Answers accumulate, so looks are far from independent: about 1 + ln(looks)
 * of them are.  With this threshold one false prefix breeds BREED others on average, so
 * they die out however large the alphabet is.  A little above 1 they flood the trie: that
 * happens in simulations at 2.25 for 26 letters and 20 looks, where this is 2.50.
 */
double
survey_threshold(const LocalQuery *query, int looks)
{
	double z = 0;
	DpStatus status PG_USED_FOR_ASSERTS_ONLY =
		dp_normal_isf(BREED / ((query->alphabet + 1) * (1 + log(looks))), &z);

	Assert(status == DP_OK);
	return z;
}

/*
 * Is the prefix frequent?  By so many standard deviations, or by the paper's threshold
 * where eta is above 0.  That is, with the answer's epsilon and m who answered,
 * eta n / (epsilon sqrt m) for all three methods: equation 1 for PrivTrie; for BSL the
 * epsilon of a level is epsilon_1 / (l + 1), which makes it section III's; for IBSL m is
 * n / (l + 1), which makes it section IV-A's.
 */
bool
survey_passes(const Survey *survey, int32 node, double eta, double z)
{
	double answered = survey->answers[node].answered;

	if (answered == 0)
		return false;
	if (eta > 0)
		return survey_share(survey, node) >= eta / (survey->epsilon * sqrt(answered));
	return survey_share(survey, node) >= z * survey_null_deviation(survey, answered);
}
