/*
 * survey.c
 *	  What was answered about each node of a trie, by one oracle, and what that says.
 */
#include "common/dp_base.h"

#include <math.h>

#include "local/survey.h"

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

/* The same in standard deviations that it would have if nobody held the prefix. */
double
survey_score(const Survey *survey, int32 node)
{
	return survey_share(survey, node) *
		   sqrt((double) survey->answers[node].answered / survey->null_variance);
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
	return survey_score(survey, node) >= z;
}
