/*
 * survey.h
 *	  What was answered about each node of a trie, by one oracle, and what that says.
 */
#ifndef DPNGRAM_LOCAL_SURVEY_H
#define DPNGRAM_LOCAL_SURVEY_H

#include "local/local.h"

/* So many answered about a node, and so many answers supported it. */
typedef struct NodeAnswers
{
	int64 supported;
	int64 answered;
} NodeAnswers;

/* Shares are of those who answered; times the users they are numbers of users. */
typedef struct Survey
{
	double epsilon; /* of one answer */
	Oracle oracle;
	double null_variance; /* of a share times those who answered, where nobody holds the prefix */
	int32 capacity;
	NodeAnswers *answers; /* of each node of the trie */
} Survey;

extern DpStatus survey_init(Survey *survey, double epsilon);
extern void survey_free(Survey *survey);
extern void survey_make_room(Survey *survey, const Trie *trie);
extern void survey_add(Survey *survey, const int32 *nodes, int n, const int64 *supported,
					   int64 answered);
extern void survey_ask(Survey *survey, const Poll *poll, const Trie *trie, const int32 *nodes,
					   int n, int64 from, int64 to);
extern double survey_share(const Survey *survey, int32 node);
extern double survey_null_deviation(const Survey *survey, double answered);
extern double survey_threshold(const LocalQuery *query, int looks);
extern bool survey_passes(const Survey *survey, int32 node, double eta, double z);

#endif /* DPNGRAM_LOCAL_SURVEY_H */
