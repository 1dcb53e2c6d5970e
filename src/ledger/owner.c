/*
 * owner.c
 *	  The frame of every owner's function: find the dataset, refuse strangers,
 *	  lock it to the transaction's end, mark it as changed, write the act into
 *	  the release log.
 *
 * Unlike a charge, an owner's act is part of the owner's transaction.  It takes
 * both locks of call.c's protocol: the lock-manager lock and the row's.  The
 * update of that row is also how ledger_open() knows a dataset that its own
 * transaction changed.
 */
#include "postgres.h"

#include "dpngram_errcodes.h"
#include "ledger/binding.h"
#include "ledger/owner.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"

void
owner_may_write(const char *function)
{
	PreventCommandIfReadOnly(function);
	PreventCommandDuringRecovery(function);
	PreventCommandIfParallelMode(function);
}

/* The live dataset of that name, which the caller owns; else an error. */
Dataset *
owner_find(const Catalog *cat, const char *name)
{
	Dataset *dataset = dataset_by_name(cat, name);

	if (dataset == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("dataset \"%s\" does not exist", name)));
	if (!dataset_owned_by(dataset, cat->caller))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of dataset \"%s\"", name)));
	return dataset;
}

/*
 * The live dataset of that name, which the caller owns, locked.  It is read
 * again after the lock: what it waited for may have ended it.
 */
Dataset *
owner_dataset(const Catalog *cat, const char *name)
{
	Dataset *dataset = owner_find(cat, name);
	int32 locked = dataset->id;

	dataset_lock(locked);
	dataset_lock_row(locked);
	dataset = owner_find(cat, name);
	if (dataset->id != locked)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("dataset \"%s\" was replaced by another transaction", name),
				 errhint("Try again.")));
	return dataset;
}

/*
 * Takes over the relations' present names and logs the act, which marks the
 * dataset as changed; price NULL is nothing at all.  Where the budget renews, a
 * price counts in every period.
 */
void
owner_act(const Catalog *cat, const Dataset *dataset, const char *act,
		  const char *parameters, const LaneAmounts *price)
{
	ReleaseEntry entry = {0};

	dataset_refresh_names(dataset);
	entry.dataset = dataset->id;
	entry.relation = relation_text(dataset_first(dataset));
	entry.session_role = GetSessionUserId();
	entry.caller = cat->caller;
	entry.mechanism = act;
	entry.parameters = parameters;
	entry.price = price ? *price : lanes_zero();
	if (dataset->renewal.every != NULL && lanes_any(&entry.price))
		entry.period = period_always();
	entry.owners_act = true;
	release_end_insert(release_insert(&entry), "done", NULL);
}
