/*
 * rappor_graph.c
 *	  A-RAPPOR's third step: terms all of whose n-grams occur together, pair by pair.
 *
 * N-grams are the nodes of a graph with a part for each position, and a term is a clique
 * with one node in each part (Fanti et al. 2016, section 4.2).  Partial terms grow from
 * the left: the next n-gram must be joined to the last one, and to all those before.
 */
#include "common/dp_base.h"

#include "local/rappor_parts.h"

/* The pairs of n-grams whose shares are above their noise; "another one" is in none. */
void
rappor_edges_init(const RapporPlan *plan, const RapporJoint *joint, RapporEdges *edges)
{
	edges->n_first = joint->rows - 1;
	edges->n_second = joint->columns - 1;
	edges->joined = palloc(Max(1, edges->n_first * edges->n_second) * sizeof(bool));
	for (int a = 0; a < edges->n_first; a++)
		for (int b = 0; b < edges->n_second; b++)
		{
			int cell = a * joint->columns + b;

			edges->joined[a * edges->n_second + b] =
				joint->share[cell] > 0 &&
				joint->share[cell] > plan->query.z_pairs * joint->stddev[cell];
		}
}

/* Is the n-gram at the next position joined to all of a partial term's? */
static bool
fits(const RapporPlan *plan, const RapporEdges *edges, const uint16 *member, int position,
	 int next)
{
	for (int i = position - 1; i >= 0; i--)
	{
		const RapporEdges *pair = &edges[rappor_pair_of(plan, i, position)];

		if (!pair->joined[member[i] * pair->n_second + next])
			return false;
	}
	return true;
}

/* All partial terms, longer by a position.  Errors: DP_ERR_RANGE for too many of them. */
static DpStatus
grow(const RapporPlan *plan, const RapporPosition *positions, const RapporEdges *edges,
	 int position, RapporCliques *cliques)
{
	RapporCliques longer = {0};
	int capacity = 1024;
	int width = plan->positions;

	longer.member = palloc((int64) capacity * width * sizeof(uint16));
	for (int i = 0; i < cliques->n; i++)
	{
		const uint16 *member = cliques->member + (int64) i * width;

		CHECK_FOR_INTERRUPTS();
		for (int next = 0; next < positions[position].n; next++)
		{
			uint16 *grown;

			if (!fits(plan, edges, member, position, next))
				continue;
			if (longer.n == plan->query.cliques)
			{
				pfree(longer.member);
				return DP_ERR_RANGE;
			}
			if (longer.n == capacity)
			{
				capacity *= 2;
				longer.member = repalloc(longer.member,
										 (int64) capacity * width * sizeof(uint16));
			}
			grown = longer.member + (int64) longer.n++ * width;
			memcpy(grown, member, position * sizeof(uint16));
			grown[position] = next;
		}
	}
	pfree(cliques->member);
	*cliques = longer;
	return DP_OK;
}

/* All cliques; errors: DP_ERR_RANGE if there are more, or more parts of them, than cliques. */
DpStatus
rappor_cliques(const RapporPlan *plan, const RapporPosition *positions, const RapporEdges *edges,
			   RapporCliques *cliques)
{
	DpStatus status = DP_OK;

	*cliques = (RapporCliques){.n = 1, .member = palloc0(plan->positions * sizeof(uint16))};
	for (int position = 0; position < plan->positions && status == DP_OK; position++)
		status = grow(plan, positions, edges, position, cliques);
	return status;
}
