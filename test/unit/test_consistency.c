/*
 * test_consistency.c
 *	  Least squares along a trie in two passes, against a dense solver: fits and their
 *	  variances, with the root known and unknown, with nodes that have no estimate.
 *
 * The solver knows the trie only as rows of a matrix: a node is the sum of the leaves
 * below it.  It minimises over the leaves, in long double, by Gaussian elimination with
 * full pivoting, so that what the estimates don't determine shows as pivots of 0.
 */
#include "local/consistency.h"

#include "common/dp_random.h"
#include "common/dp_sample.h"
#include "tap.h"

#define MAX_NODES 200
#define MAX_UNKNOWNS (MAX_NODES + 1)
#define ROOT_COUNT 1000.0
#define PRECISION 1e-9
#define ZERO_PIVOT 1e-13L
#define TRIES 300

static DpRandom rng;

static Trie trie;
static NodeEstimate first[MAX_NODES];
static NodeEstimate second[MAX_NODES];
static NodeEstimate fit[MAX_NODES];

/* node i is the sum of the leaves j with row[i][j] = 1 */
static int leaves;
static long double row[MAX_NODES][MAX_NODES];

static double
uniform(void)
{
	return ((dp_random_u64(&rng) >> 11) + 0.5) * 0x1p-53;
}

/* ---- the dense solver ---- */

static long double matrix[MAX_UNKNOWNS][MAX_UNKNOWNS];

/* a[..][n] is the right side */
static long double a[MAX_UNKNOWNS][MAX_UNKNOWNS + 1];
static long double solution[MAX_UNKNOWNS];

static void
swap(long double *p, long double *q)
{
	long double t = *p;

	*p = *q;
	*q = t;
}

/* Brings the largest element of what is left to the diagonal, and returns its size. */
static long double
pivot(int n, int step, int *column)
{
	int row_at = step;
	int column_at = step;
	int old;

	for (int i = step; i < n; i++)
		for (int j = step; j < n; j++)
			if (fabsl(a[i][j]) > fabsl(a[row_at][column_at]))
			{
				row_at = i;
				column_at = j;
			}
	for (int j = 0; j <= n; j++)
		swap(&a[step][j], &a[row_at][j]);
	for (int i = 0; i < n; i++)
		swap(&a[i][step], &a[i][column_at]);
	old = column[step];
	column[step] = column[column_at];
	column[column_at] = old;
	return fabsl(a[step][step]);
}

/* A solution with 0 for what is free; false: there is none. */
static bool
solve(int n)
{
	int column[MAX_UNKNOWNS];
	int rank;

	for (int j = 0; j < n; j++)
		column[j] = j;
	for (rank = 0; rank < n && pivot(n, rank, column) > ZERO_PIVOT; rank++)
		for (int i = 0; i < n; i++)
			if (i != rank)
			{
				long double factor = a[i][rank] / a[rank][rank];

				for (int j = rank; j <= n; j++)
					a[i][j] -= factor * a[rank][j];
			}
	for (int j = 0; j < n; j++)
		solution[column[j]] = j < rank ? a[j][n] / a[j][j] : 0;
	for (int i = rank; i < n; i++)
		if (fabsl(a[i][n]) > 1e-7L)
			return false;
	return true;
}

static void
add_observation(const NodeEstimate *estimate, int32 node, long double *right)
{
	long double precision = 1.0L / (long double) estimate[node].variance;

	if (isinf(estimate[node].variance) || estimate[node].variance == 0)
		return;
	for (int i = 0; i < leaves; i++)
	{
		right[i] += precision * row[node][i] * (long double) estimate[node].value;
		for (int j = 0; j < leaves; j++)
			matrix[i][j] += precision * row[node][i] * row[node][j];
	}
}

static void
take_system(int n, const long double *right)
{
	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < n; j++)
			a[i][j] = matrix[i][j];
		a[i][n] = right[i];
	}
}

static long double
along(int32 node)
{
	long double sum = 0;

	for (int j = 0; j < leaves; j++)
		sum += row[node][j] * solution[j];
	return sum;
}

/* ---- random tries ---- */

static void
make_rows(void)
{
	memset(row, 0, sizeof(row));
	leaves = 0;
	for (int32 node = 0; node < trie.size; node++)
		if (trie.node[node].first_child == TRIE_NONE)
		{
			for (int32 above = node; above != TRIE_NONE; above = trie.node[above].parent)
				row[above][leaves] = 1;
			leaves++;
		}
}

static void
make_trie(int alphabet, int expansions)
{
	trie_init(&trie, alphabet);
	trie_expand(&trie, TRIE_ROOT);
	while (expansions-- > 0)
	{
		int32 node = 1 + dp_uniform(&rng, trie.size - 1);

		if (trie.node[node].first_child == TRIE_NONE && !trie_is_term(&trie, node) &&
			trie.size + alphabet + 1 <= MAX_NODES)
			trie_expand(&trie, node);
	}
	make_rows();
}

static NodeEstimate
draw(double present)
{
	if (uniform() > present)
		return NO_ESTIMATE;
	return (NodeEstimate){200 * uniform() - 50, exp(6 * uniform())};
}

static void
make_estimates(double present, bool root_known)
{
	for (int32 node = 0; node < trie.size; node++)
	{
		first[node] = draw(present);
		second[node] = trie_is_term(&trie, node) ? draw(0.7) : NO_ESTIMATE;
	}
	if (root_known)
		first[TRIE_ROOT] = (NodeEstimate){ROOT_COUNT, 0};
}

/* ---- the comparison ---- */

static bool
close_to(long double x, long double y, long double scale)
{
	return fabsl(x - y) <= PRECISION * (scale + fabsl(y));
}

/* Is a node's variance what the solver says, and infinite where it finds none? */
static bool
same_variance(int32 node, int n)
{
	long double right[MAX_UNKNOWNS] = {0};
	bool determined;

	for (int j = 0; j < leaves; j++)
		right[j] = row[node][j];
	take_system(n, right);
	determined = solve(n);
	if (determined == (bool) isinf(fit[node].variance))
		return false;
	return !determined || close_to(fit[node].variance, along(node), 1e-3L);
}

/* Fits the trie both ways; counts the nodes that were determined. */
static bool
same_fit(bool root_known, int *determined)
{
	long double right[MAX_UNKNOWNS] = {0};
	long double exact[MAX_NODES];
	int n = leaves + root_known;
	bool same = true;

	memset(matrix, 0, sizeof(matrix));
	for (int32 node = 0; node < trie.size; node++)
	{
		add_observation(first, node, right);
		add_observation(second, node, right);
	}
	for (int j = 0; root_known && j < leaves; j++)
		matrix[leaves][j] = matrix[j][leaves] = 1;
	if (root_known)
		right[leaves] = ROOT_COUNT;
	take_system(n, right);
	same &= solve(n);
	for (int32 node = 0; node < trie.size; node++)
		exact[node] = along(node);

	consistency_fit(&trie, first, second, fit);
	for (int32 node = 0; node < trie.size; node++)
	{
		same &= same_variance(node, n);
		if (isinf(fit[node].variance))
			continue;
		(*determined)++;
		same &= close_to(fit[node].value, exact[node], 1);
	}
	return same;
}

static bool
sums_agree(void)
{
	for (int32 node = 0; node < trie.size; node++)
	{
		double sum = 0;

		if (trie.node[node].first_child == TRIE_NONE)
			continue;
		for (int i = 0; i < trie_children(&trie); i++)
			sum += fit[trie.node[node].first_child + i].value;
		if (!close_to(sum, fit[node].value, 1))
			return false;
	}
	return true;
}

static void
against_solver(double present, bool root_known, const char *name)
{
	bool same = true;
	bool sums = true;
	int determined = 0;

	for (int t = 0; t < TRIES; t++)
	{
		make_trie(1 + dp_uniform(&rng, 3), dp_uniform(&rng, 9));
		make_estimates(present, root_known);
		same &= same_fit(root_known, &determined);
		sums &= sums_agree();
		trie_free(&trie);
	}
	ok(same && determined > TRIES, "%s: %d nodes' fits and variances are the solver's", name,
	   determined);
	ok(sums, "%s: the children's fits add up to their parent's", name);
}

static void
test_by_hand(void)
{
	trie_init(&trie, 1);
	trie_expand(&trie, TRIE_ROOT);
	first[TRIE_ROOT] = (NodeEstimate){10, 0};
	first[1] = (NodeEstimate){4, 1};
	first[2] = (NodeEstimate){3, 2};
	consistency_fit(&trie, first, NULL, fit);
	ok(fit[1].value == 5 && fit[2].value == 5 && fabs(fit[1].variance - 2.0 / 3) < 1e-15 &&
		   fit[TRIE_ROOT].variance == 0,
	   "what is missing goes to the children by their variances");
	first[1] = NO_ESTIMATE;
	consistency_fit(&trie, first, NULL, fit);
	ok(fit[1].value == 7 && fit[1].variance == 2 && fit[2].value == 3 && fit[2].variance == 2,
	   "a child without an estimate takes what is left");
	trie_free(&trie);
}

int
main(void)
{
	dp_random_seeded(&rng, 5, 1, 1);
	test_by_hand();
	against_solver(1, true, "all estimated, root known");
	against_solver(1, false, "all estimated, root estimated");
	against_solver(0.6, true, "some estimated, root known");
	against_solver(0.6, false, "some estimated, root perhaps");
	against_solver(0, true, "terms only, root known");
	dp_random_clear(&rng);
	return tap_done();
}
