/*
 * local_plan.h
 *	  What a published round makes clients and server do, by method.
 */
#ifndef DPNGRAM_LOCAL_PLAN_H
#define DPNGRAM_LOCAL_PLAN_H

#include "api/local_round.h"
#include "local/pem.h"
#include "local/rappor.h"
#include "local/treehist.h"

/* Of the round's method one of them; the places are tickets. */
typedef struct ClientPlan
{
	Oracle oracle; /* privtrie */
	PemQuery pem_query;
	PemPlan pem;
	TreeHistPlan treehist;
	RapporPlan rappor;
} ClientPlan;

extern ClientPlan *client_plan(const PublishedRound *round);

#endif /* DPNGRAM_LOCAL_PLAN_H */
