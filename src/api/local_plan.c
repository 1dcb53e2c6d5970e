/*
 * local_plan.c
 *	  What a published round makes clients and server do, by method.
 *
 * Both halves of a protocol make their plan here, from the same public numbers.
 */
#include "postgres.h"

#include "api/local_plan.h"
#include "dpngram_errcodes.h"

static DpStatus
plan_method(const PublishedRound *round, ClientPlan *plan)
{
	const LocalQuery *query = &round->query;
	TreeHistQuery treehist;
	RapporQuery rappor;

	switch (round->method)
	{
		case LOCAL_PRIVTRIE:
			return oracle_bits(query->epsilon, &plan->oracle);
		case LOCAL_PEM:
			plan->pem_query = pem_defaults(query);
			return pem_plan(&plan->pem_query, LOCAL_TICKETS, &plan->pem);
		case LOCAL_TREEHIST:
			treehist = treehist_defaults(query);
			treehist.key = round->key;
			return treehist_plan(&treehist, LOCAL_TICKETS, &plan->treehist);
		case LOCAL_RAPPOR:
			rappor = rappor_defaults(query);
			rappor.lifetime = round->lifetime;
			return rappor_plan(&rappor, &plan->rappor);
		default:
			ereport(ERROR,
					(errcode(ERRCODE_DP_ARGUMENT),
					 errmsg("method %s has no protocol for clients",
							local_method_name(round->method)),
					 errhint("Methods that have one are privtrie, pem, treehist and rappor.")));
			return DP_ERR_DOMAIN; /* not reached */
	}
}

/* The plan, palloc'd; errors: NG005 where the method can't have such a collection. */
ClientPlan *
client_plan(const PublishedRound *round)
{
	ClientPlan *plan = palloc0(sizeof(ClientPlan));

	if (plan_method(round, plan) != DP_OK)
		refuse_collection(round->method);
	return plan;
}
