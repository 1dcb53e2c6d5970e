/*
 * target.c
 *	  Which texts a call reads: the columns that it names, compared with what the
 *	  dataset's owner allows, before anything is charged.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

#include "api/target.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "ledger/access.h"
#include "ledger/dataset.h"

static void
no_such_column(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_COLUMN),
			 errmsg("column \"%s\" does not exist or may not be queried", name)));
}

/* The number of a column that the caller may name as text. */
static AttrNumber
check_columns(const LedgerAccess *access, const TextTarget *target)
{
	AttrNumber attnum;
	ListCell *cell;
	bool allowed = access->text_columns == NIL;

	if (strcmp(target->user_col, access->user_col) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_WRONG_PRIVACY_UNIT),
				 errmsg("\"%s\" is not the privacy unit of the dataset \"%s\"",
						target->user_col, access->terms.dataset),
				 errdetail("The dataset protects the persons named by its column \"%s\".",
						   access->user_col)));
	attnum = get_attnum(access->relid, target->text_col);
	foreach (cell, access->text_columns)
		allowed = allowed || strcmp(lfirst(cell), target->text_col) == 0;
	if (attnum <= 0 || !allowed)
		no_such_column(target->text_col);
	return attnum;
}

static ReadSpec
text_spec(Oid relid, Oid owner, AttrNumber user_attnum, AttrNumber text_attnum,
		  const TextTarget *target)
{
	Oid type = get_atttype(relid, text_attnum);

	return (ReadSpec){
		.relid = relid,
		.owner = owner,
		.user_attnum = user_attnum,
		.text_attnum = text_attnum,
		.text_type = type,
		.tokenizer = tokenizer_create(target->tokenizer, type),
		.tokenizer_name = target->tokenizer,
		.max_tokens = target->max_tokens};
}

/* What a private release is to read, its rows' time aside; chooses the period of its charge. */
ReadSpec
target_spec(LedgerAccess *access, const TextTarget *target)
{
	if (target->period != NULL)
		ledger_choose_period(access, target->period);
	return text_spec(access->relid, access->owner, access->user_attnum,
					 check_columns(access, target), target);
}

static AttrNumber
existing_column(Oid relid, const char *name)
{
	AttrNumber attnum = get_attnum(relid, name);

	if (attnum <= 0)
		no_such_column(name);
	return attnum;
}

/*
 * What a function reads that is not private: its caller must own the relation, under a
 * budget or not.  The function's name is for the error; is it read elsewhere, in another
 * session?  Locks the relation.
 */
ReadSpec
target_owner_spec(const TextTarget *target, const char *function, bool elsewhere)
{
	Oid owner;
	char *schema;
	char *name;
	AttrNumber user_attnum;

	LockRelationOid(target->relid, AccessShareLock);
	if (!relation_identity(target->relid, &owner, &schema, &name) ||
		!has_privs_of_role(GetUserId(), owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("only the owner of the relation may use %s", function),
				 errdetail("Its result is not differentially private.")));
	if (target->period != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("%s has no option \"period\"", function),
				 errdetail("It reads the rows of all periods.")));
	if (elsewhere)
		relation_refuse_own_change(target->relid);
	user_attnum = existing_column(target->relid, target->user_col);
	return text_spec(target->relid, owner, user_attnum,
					 existing_column(target->relid, target->text_col), target);
}
