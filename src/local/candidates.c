/*
 * candidates.c
 *	  From the answers about a trie's nodes to the most frequent terms.
 *
 * Candidates are whole terms that were asked about while the trie grew and in refinement.
 *
 * Without consistency only refinement counts, as in the paper's framework (section III).
 * Consistency (section IV-C) has two constraints.  By the first, a candidate's two
 * estimates are of one number: they have a mean, with weights in inverse proportion to the
 * variances that they would have if nobody held the term.  These weights don't depend on
 * what is averaged, so the mean of unbiased estimates is unbiased.  (Weights from the
 * estimates' own variances would be a little better and not unbiased.)  By the second, a
 * prefix has as many users as its children together: least squares along the trie.
 *
 * The second is for BSL and IBSL, which ask about a node once.  On words that stand out
 * the fits' bias was below a twentieth of a standard deviation, their standard deviations
 * covered 68 % to 74 % and 95 % to 97 %, and were up to a quarter smaller than the means'
 * (test_tries.c).  A prefix has children only if it looked frequent, so fits of words at
 * the edge of what can be found are too large.
 *
 * PrivTrie stops asking about a prefix as soon as it looks frequent, or rare, so what it
 * knows of prefixes is biased, and least squares would hand that on: .2 to .3 standard
 * deviations even for frequent words.  Without what was stopped, there is no estimate of
 * any prefix with children; each sum then has a part that is free to fill it, and least
 * squares give back the means.  So these are what PrivTrie returns.
 *
 * The mean's variance is that at its own value: of the randomised answers, where those who
 * hold the term answer with another variance than the others; and, unless everyone was
 * asked, of who happened to be asked, as in sampling without replacement.
 */
#include "common/dp_base.h"

#include <math.h>

#include "local/candidates.h"
#include "local/consistency.h"

/*
 * Terms are chosen by their estimate less so many of its standard deviations: one that few
 * users were asked about is not taken for frequent because it happens to look so.
 */
#define RANK_CAUTION 0.5

/*
 * The children of an expanded node that are asked about; returns their number.  Not the
 * term without characters, which nobody has, and of a prefix as long as terms may be only
 * its end.
 */
int
candidates_below(const Trie *trie, int32 node, int longest, int32 *nodes)
{
	int32 first = trie->node[node].first_child;
	int from = node == TRIE_ROOT ? 1 : 0;
	int to = trie->node[node].depth < longest ? trie_children(trie) : 1;

	for (int i = from; i < to; i++)
		nodes[i - from] = first + i;
	return Max(to - from, 0);
}

/* All whole terms of the trie but the one without characters; returns their number. */
int
candidates_terms(const Trie *trie, int32 *nodes)
{
	int n = 0;

	for (int32 node = 0; node < trie->size; node++)
		if (trie_is_term(trie, node) && trie->node[node].depth > 1)
			nodes[n++] = node;
	return n;
}

/* ---- order ---- */

typedef struct Ranked
{
	double key;
	double tie; /* ascending */
	int32 node;
} Ranked;

static int
compare_ranked(const void *a, const void *b)
{
	const Ranked *x = a;
	const Ranked *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return (x->tie > y->tie) - (x->tie < y->tie);
}

/*
 * Keeps the nodes with the largest shares, as many as there is room for, and returns their
 * number; the best first, ties as they were made.
 */
int
candidates_best(const Survey *survey, int32 *nodes, int n, int room)
{
	Ranked *ranked = palloc(Max(n, 1) * sizeof(Ranked));

	for (int i = 0; i < n; i++)
		ranked[i] = (Ranked){survey_share(survey, nodes[i]), nodes[i], nodes[i]};
	qsort(ranked, n, sizeof(Ranked), compare_ranked);
	n = Min(n, Max(room, 0));
	for (int i = 0; i < n; i++)
		nodes[i] = ranked[i].node;
	pfree(ranked);
	return n;
}

/* Where each node's prefix stands in the order of symbols. */
static double *
symbol_order(const Trie *trie)
{
	double *below = palloc(trie->size * sizeof(double));
	double *order = palloc(trie->size * sizeof(double));

	for (int32 node = 0; node < trie->size; node++)
		below[node] = 1;
	for (int32 node = trie->size - 1; node > TRIE_ROOT; node--)
		below[trie->node[node].parent] += below[node];
	order[TRIE_ROOT] = 0;
	for (int32 node = 1; node < trie->size; node++)
	{
		int32 parent = trie->node[node].parent;

		if (trie->node[parent].first_child == node)
			order[node] = order[parent] + 1;
		else
			order[node] = order[node - 1] + below[node - 1];
	}
	pfree(below);
	return order;
}

/* ---- estimates ---- */

static int64
answered(const Survey *survey, int32 node)
{
	return node < survey->capacity ? survey->answers[node].answered : 0;
}

/* The variance of a share, where it is so large: of the answers, and of who was asked. */
static double
answers_variance(const Survey *survey, int32 node, double share)
{
	double m = answered(survey, node);

	return oracle_variance(&survey->oracle, share * m, (int64) m) / (m * m);
}

static double
sampling_variance(const Evidence *evidence, double share, double inverse_sample)
{
	double n = evidence->users;

	if (evidence->everyone || n <= 1)
		return 0;
	return share * (1 - share) * Max(0, inverse_sample - 1 / n) * n / (n - 1);
}

/* The weight of refinement in a candidate's mean; nothing else counts without consistency. */
static double
refinement_weight(const Evidence *evidence, int32 node)
{
	double first = answered(evidence->growth, node) / evidence->growth->null_variance;
	double second;

	if (answered(evidence->refinement, node) == 0)
		return 0;
	if (!evidence->query->consistency)
		return 1;
	second = answered(evidence->refinement, node) / evidence->refinement->null_variance;
	return second / (first + second);
}

/* The mean of what was answered about a node. */
static double
mean_share(const Evidence *evidence, int32 node)
{
	double weight = refinement_weight(evidence, node);
	double share = (1 - weight) * survey_share(evidence->growth, node);

	if (weight > 0)
		share += weight * survey_share(evidence->refinement, node);
	return share;
}

static double
within(double share)
{
	return Max(0, Min(1, share));
}

static NodeEstimate
mean_estimate(const Evidence *evidence, int32 node)
{
	double share = mean_share(evidence, node);
	double weight[2];
	double variance = 0;
	double inverse_sample = 0;

	weight[1] = refinement_weight(evidence, node);
	weight[0] = 1 - weight[1];
	for (int i = 0; i < 2; i++)
	{
		const Survey *survey = i == 0 ? evidence->growth : evidence->refinement;

		if (answered(survey, node) == 0)
			continue;
		variance += weight[i] * weight[i] * answers_variance(survey, node, within(share));
		inverse_sample += weight[i] * weight[i] / (double) survey->answers[node].answered;
	}
	if (inverse_sample == 0)
		return NO_ESTIMATE;
	variance += sampling_variance(evidence, within(share), inverse_sample);
	return (NodeEstimate){evidence->users * share, evidence->users * evidence->users * variance};
}

/* The candidates' means; the other nodes' places are not filled. */
static NodeEstimate *
mean_estimates(const Evidence *evidence)
{
	NodeEstimate *estimate = palloc(evidence->trie->size * sizeof(NodeEstimate));

	for (int i = 0; i < evidence->n_candidates; i++)
		estimate[evidence->candidates[i]] = mean_estimate(evidence, evidence->candidates[i]);
	return estimate;
}

/* One survey's estimates for least squares, with the variances they have at such shares. */
static NodeEstimate *
survey_estimates(const Evidence *evidence, const Survey *survey, const double *share)
{
	int32 size = evidence->trie->size;
	NodeEstimate *estimate = palloc(size * sizeof(NodeEstimate));
	double n = evidence->users;

	for (int32 node = 0; node < size; node++)
	{
		double m = answered(survey, node);
		double variance;

		estimate[node] = NO_ESTIMATE;
		if (m == 0)
			continue;
		variance = answers_variance(survey, node, share[node]) +
				   sampling_variance(evidence, share[node], 1 / m);
		estimate[node] = (NodeEstimate){n * survey_share(survey, node), n * n * variance};
	}
	return estimate;
}

/*
 * Fits the trie, with variances at the shares.  All users are below the root, but those
 * without a term that could be reported hold no child's prefix: the root's "&" stands for
 * them, and has no estimate.
 */
static void
fit_at(const Evidence *evidence, const double *share, NodeEstimate *fit)
{
	NodeEstimate *growth = survey_estimates(evidence, evidence->growth, share);
	NodeEstimate *refinement = survey_estimates(evidence, evidence->refinement, share);

	growth[TRIE_ROOT] = (NodeEstimate){evidence->users, 0};
	consistency_fit(evidence->trie, growth, refinement, fit);
	pfree(growth);
	pfree(refinement);
}

/*
 * What least squares make of it.  Variances depend on the shares: first on the nodes' own,
 * then on the fit's.  An estimate that happens to be large would have a large variance
 * and lose weight, and fits would be too small; with the fit's shares they are less so.
 */
static NodeEstimate *
consistent_estimates(const Evidence *evidence)
{
	int32 size = evidence->trie->size;
	double *share = palloc(size * sizeof(double));
	NodeEstimate *fit = palloc(size * sizeof(NodeEstimate));

	for (int32 node = 0; node < size; node++)
		share[node] = within(mean_share(evidence, node));
	fit_at(evidence, share, fit);
	for (int32 node = 0; node < size; node++)
		share[node] = within(fit[node].value / evidence->users);
	fit_at(evidence, share, fit);
	pfree(share);
	return fit;
}

static LocalFound
found_term(const Trie *trie, int32 node, NodeEstimate estimate)
{
	LocalFound found = {.length = trie->node[node].depth - 1,
						.estimate = estimate.value,
						.stddev = sqrt(estimate.variance)};

	found.symbol = palloc(trie->node[node].depth * sizeof(uint16));
	trie_prefix(trie, node, found.symbol);
	return found;
}

/*
 * Takes from the candidates those whose estimates are largest after caution, in that
 * order; returns their number.
 */
static int
select_terms(const Evidence *evidence, const NodeEstimate *estimate, Ranked *ranked)
{
	int n = 0;

	for (int i = 0; i < evidence->n_candidates; i++)
	{
		int32 node = evidence->candidates[i];
		double key = estimate[node].value - RANK_CAUTION * sqrt(estimate[node].variance);

		if (key > 0)
			ranked[n++] = (Ranked){key, node, node};
	}
	qsort(ranked, n, sizeof(Ranked), compare_ranked);
	return Min(n, evidence->query->k);
}

/* Sorts what was selected: the most frequent first, ties by symbols. */
static void
sort_by_estimate(const Trie *trie, const NodeEstimate *estimate, Ranked *ranked, int n)
{
	double *order = symbol_order(trie);

	for (int i = 0; i < n; i++)
	{
		ranked[i].key = estimate[ranked[i].node].value;
		ranked[i].tie = order[ranked[i].node];
	}
	qsort(ranked, n, sizeof(Ranked), compare_ranked);
	pfree(order);
}

/* The most frequent candidates, as many as the query wants. */
void
candidates_rank(const Evidence *evidence, LocalResult *result)
{
	const Trie *trie = evidence->trie;
	bool fitted = evidence->query->consistency && !evidence->stopping;
	NodeEstimate *estimate = fitted ? consistent_estimates(evidence) : mean_estimates(evidence);
	Ranked *ranked = palloc(Max(evidence->n_candidates, 1) * sizeof(Ranked));

	result->n = select_terms(evidence, estimate, ranked);
	sort_by_estimate(trie, estimate, ranked, result->n);
	result->found = palloc(Max(result->n, 1) * sizeof(LocalFound));
	for (int i = 0; i < result->n; i++)
		result->found[i] = found_term(trie, ranked[i].node, estimate[ranked[i].node]);
	pfree(ranked);
	pfree(estimate);
}
