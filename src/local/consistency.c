/*
 * consistency.c
 *	  Estimates that agree along a trie: weighted least squares in two passes.
 *
 * What is minimised (Wang et al., "PrivTrie", ICDE 2018, IV-C, equation 2, with sigma a
 * standard deviation, which the paper's text calls a variance):
 *
 *	sum over nodes of (fit - first)^2 / variance(first) + the same for second
 *
 * where every expanded node's fit is the sum of its children's (equation 3, which the
 * paper writes for all nodes; a leaf's empty sum is not meant).
 *
 * The paper's equations 4 to 8 carry sums along the paths, and divide by the root's
 * variance, which is 0: the root's count is known.  The following is the same minimum.
 *
 * Up: what a node's own estimates and all that lies below it say of its count.  Its own
 * estimates combine by inverse variance; the children's sum, whose variance is the sum of
 * theirs since users who answered them are others or answered independently, counts as
 * one more estimate.
 * Down: the root's fit is what was found on the way up, or what is known.  A node's fit
 * less the sum of its children's is handed to them in proportion to their variances.
 * The same passes give the fits' variances under the model: with r the child's share of
 * its siblings' variance W, var(fit) = V - V^2 / W + r^2 var(parent's fit), because the
 * parent's fit enters by r and what the child and its siblings said otherwise is
 * independent of what came from elsewhere.
 *
 * A node without an estimate and with nothing known below tells its parent nothing; it
 * takes what its siblings leave.  Several such siblings share it, and their fits mean
 * nothing: their variance is infinite.
 *
 * The model holds if variances are right and estimates independent and unbiased; what
 * breaks it in the methods is said there.
 */
#include "common/dp_base.h"

#include <math.h>

#include "local/consistency.h"

/* Of two independent estimates of one number; variance 0 is certainty. */
static NodeEstimate
consistency_combine(NodeEstimate a, NodeEstimate b)
{
	double share;

	if (isinf(b.variance) || a.variance == 0)
		return a;
	if (isinf(a.variance) || b.variance == 0)
		return b;
	share = a.variance / (a.variance + b.variance);
	return (NodeEstimate){a.value + share * (b.value - a.value), share * b.variance};
}

/* Children of one node: the sum of what is known of them, and how many are unknown. */
static NodeEstimate
sum_of_children(const Trie *trie, int32 node, const NodeEstimate *estimate, int *unknown)
{
	const NodeEstimate *child = estimate + trie->node[node].first_child;
	NodeEstimate sum = {0, 0};

	*unknown = 0;
	for (int i = 0; i < trie_children(trie); i++)
		if (isinf(child[i].variance))
			(*unknown)++;
		else
		{
			sum.value += child[i].value;
			sum.variance += child[i].variance;
		}
	return sum;
}

/* Children follow their parents in the array: backwards is upwards. */
static void
go_up(const Trie *trie, const NodeEstimate *first, const NodeEstimate *second, NodeEstimate *fit)
{
	for (int32 node = trie->size - 1; node >= 0; node--)
	{
		fit[node] = first[node];
		if (second != NULL)
			fit[node] = consistency_combine(fit[node], second[node]);
		if (trie->node[node].first_child != TRIE_NONE)
		{
			int unknown;
			NodeEstimate sum = sum_of_children(trie, node, fit, &unknown);

			if (unknown == 0)
				fit[node] = consistency_combine(fit[node], sum);
		}
	}
}

/* One of the children that are all known. */
static NodeEstimate
fit_known(NodeEstimate child, NodeEstimate sum, NodeEstimate parent)
{
	double share = sum.variance > 0 ? child.variance / sum.variance : 0;

	return (NodeEstimate){child.value + share * (parent.value - sum.value),
						  child.variance * (1 - share) + share * share * parent.variance};
}

/* A node's children get its fit. */
static void
hand_down(const Trie *trie, int32 node, NodeEstimate *fit)
{
	int unknown;
	NodeEstimate sum = sum_of_children(trie, node, fit, &unknown);
	NodeEstimate *child = fit + trie->node[node].first_child;

	for (int i = 0; i < trie_children(trie); i++)
		if (unknown == 0)
			child[i] = fit_known(child[i], sum, fit[node]);
		else if (isinf(child[i].variance))
			child[i] = (NodeEstimate){(fit[node].value - sum.value) / unknown,
									  unknown == 1 ? fit[node].variance + sum.variance : INFINITY};
}

/*
 * Fits the trie; each array has an element for each node, second may be NULL.  A root
 * that is known has variance 0 in first.  No other variance may be 0.
 */
void
consistency_fit(const Trie *trie, const NodeEstimate *first, const NodeEstimate *second,
				NodeEstimate *fit)
{
	go_up(trie, first, second, fit);
	for (int32 node = 0; node < trie->size; node++)
		if (trie->node[node].first_child != TRIE_NONE)
			hand_down(trie, node, fit);
}
