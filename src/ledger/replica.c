/*
 * replica.c
 *	  What logical replication may write into a ledger.
 *
 * A publication FOR ALL TABLES has the ledger's tables, too.  A subscriber's ledger
 * follows that of its publisher, so that it can take over, but it must not be a
 * second budget meanwhile:
 *
 *	- A binding holds OIDs of the publisher, which may be those of other tables
 *	  and roles here.  Replication writes none, so that a replicated dataset is
 *	  suspended like one restored from a dump.
 *	- dp_resume() is refused while a subscription writes the ledger.
 *	- A dataset that is bound here is this server's own.  Replication that would
 *	  change what it has spent fails.
 *
 * The triggers are enabled for session_replication_role "replica" only, in which
 * subscriptions work.
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "ledger/binding.h"
#include "ledger/replica.h"
#include "utils/rel.h"

static TriggerData *
row_trigger(FunctionCallInfo fcinfo)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_FOR_ROW(trigger->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function can only be called as a trigger for each row")));
	return trigger;
}

PG_FUNCTION_INFO_V1(dpngram_bindings_stay);

/* Trigger: leaves out what is done to a binding. */
Datum
dpngram_bindings_stay(PG_FUNCTION_ARGS)
{
	(void) row_trigger(fcinfo);
	PG_RETURN_POINTER(NULL);
}

/* The name of a live dataset if this server can spend it, else NULL. */
static char *
spendable_here(int32 id)
{
	Catalog cat;
	Dataset *dataset;
	char *name = NULL;

	catalog_enter(&cat);
	dataset = dataset_by_id(&cat, id);
	if (dataset != NULL)
	{
		ListCell *cell;

		foreach (cell, dataset->relations)
			if (binding_defect(lfirst(cell)) == NULL)
				name = dataset->name;
	}
	catalog_leave(&cat);
	return name;
}

PG_FUNCTION_INFO_V1(dpngram_own_dataset_stays);

/* Trigger: refuses a change of a dataset that is this server's own. */
Datum
dpngram_own_dataset_stays(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = row_trigger(fcinfo);
	TupleDesc descriptor = RelationGetDescr(trigger->tg_relation);
	bool isnull;
	Datum id = SPI_getbinval(trigger->tg_trigtuple, descriptor, SPI_fnumber(descriptor, "id"),
							 &isnull);
	char *name = spendable_here(DatumGetInt32(id));

	if (name != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("dataset \"%s\" is this server's own and not replicated", name),
				 errhint("Leave the tables of schema dpngram out of the publication.")));
	PG_RETURN_POINTER(TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple :
																   trigger->tg_trigtuple);
}

/* Refuses, within a visit, where a subscription writes the ledger. */
void
refuse_subscribed(void)
{
	if (catalog_query("SELECT 1 FROM pg_catalog.pg_subscription_rel "
					  "WHERE srrelid = 'dpngram.dataset'::pg_catalog.regclass",
					  NULL) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a subscription writes the privacy ledger of this database"),
				 errdetail("Its publisher can still spend the same budget."),
				 errhint("Drop the subscription first.")));
}
