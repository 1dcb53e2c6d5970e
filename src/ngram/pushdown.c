/*
 * pushdown.c
 *	  Can a relation's n-grams be counted where its rows are?
 *
 * All of this is decided before anything is charged, by the catalog alone.  Where the
 * caller leaves the choice to us (execution "auto"), what can't be pushed down is read
 * into this process, as ever.  What must hold:
 *
 *	 - The role as which rows are read may count them: no row-level security stands
 *	   between, which would be another one for the parts than for the relation.
 *	 - All servers take the same for a user and for a word (node_spec.h).
 *	 - Each user's rows are on one server (pushdown_parts.c; in Citus, by the
 *	   distribution column).
 *	 - One statement does not see other rows than the next: a user who had other words in
 *	   each round could get more of them released than the bound allows for.  The worker's
 *	   transaction, a block at isolation level repeatable read, sees to that, for postgres_fdw
 *	   and for Citus; of a view nobody knows.
 *	 - The statements really go to the servers (pushdown_query.c): else all rows
 *	   would come here once for every level.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "compat.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "ngram/node_count.h"
#include "ngram/pushdown.h"
#include "ngram/read_query.h"
#include "parser/parse_func.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

static bool
refuse(PushRefusal *refusal, const char *detail, const char *hint)
{
	*refusal = (PushRefusal){detail, hint};
	return false;
}

/* ------------------------------------------------------------------------
 * columns
 * ------------------------------------------------------------------------ */

static char *
type_name(Oid type)
{
	return format_type_extended(getBaseType(type), -1, FORMAT_TYPE_FORCE_QUALIFY);
}

/* Functions of two columns have one collation: it must exist, and be that of the users. */
static bool
collations_agree(Oid user, Oid text)
{
	if ((OidIsValid(user) && !get_collation_isdeterministic(user)) ||
		(OidIsValid(text) && !get_collation_isdeterministic(text)))
		return false;
	return !OidIsValid(user) || !OidIsValid(text) || user == text ||
		   user == DEFAULT_COLLATION_OID || text == DEFAULT_COLLATION_OID;
}

static bool
set_columns(Pushdown *pushdown, const char *tokenizer, PushRefusal *refusal)
{
	const ReadSpec *read = &pushdown->read;
	Oid user_type;
	Oid user_collation;
	Oid text_type;
	Oid text_collation;
	int32 typmod;
	UserType users;

	get_atttypetypmodcoll(read->relid, read->user_attnum, &user_type, &typmod, &user_collation);
	get_atttypetypmodcoll(read->relid, read->text_attnum, &text_type, &typmod, &text_collation);
	users = read_user_type(read);
	if (!user_type_hashed(&users))
		return refuse(refusal, "The persons' type has no hash function.", NULL);
	if (!collations_agree(user_collation, text_collation))
		return refuse(refusal, "The collations of the two columns are nondeterministic, or differ.",
					  NULL);
	if (strncmp(tokenizer, "parser:", 7) == 0 || strncmp(tokenizer, "config:", 7) == 0)
		return refuse(refusal, "Tokenizers of text search may differ between servers.",
					  "Choose word or whitespace.");
	pushdown->encoding = GetDatabaseEncoding();
	pushdown->probe = node_probe(tokenizer, text_type);
	pushdown->tokenizer = pstrdup(tokenizer);
	pushdown->user_type = type_name(user_type);
	pushdown->text_type = type_name(text_type);
	return true;
}

/* ------------------------------------------------------------------------
 * rights
 * ------------------------------------------------------------------------ */

/* A part of a relation may have rights of its own. */
static bool
may_read(const Pushdown *pushdown)
{
	for (int i = 0; i < pushdown->nparts; i++)
		if (pushdown->part[i].relid != pushdown->read.relid &&
			pg_class_aclcheck(pushdown->part[i].relid, pushdown->read.owner, ACL_SELECT) !=
				ACLCHECK_OK)
			return false;
	return true;
}

static bool
no_row_security(const Pushdown *pushdown)
{
	for (int i = -1; i < pushdown->nparts; i++)
	{
		Oid relid = i < 0 ? pushdown->read.relid : pushdown->part[i].relid;

		if (check_enable_rls(relid, pushdown->read.owner, true) == RLS_ENABLED)
			return false;
	}
	return true;
}

static bool
may_call(Oid role, const char *name, int nargs)
{
	Oid args[] = {BYTEAOID, ANYOID, ANYOID};
	List *function = list_make2(makeString("dpngram"), makeString(pstrdup(name)));

	return pg_proc_aclcheck(LookupFuncName(function, nargs, args, false), role, ACL_EXECUTE) ==
		   ACLCHECK_OK;
}

/* May the role count those parts that are not on other servers? */
static bool
may_count(const Pushdown *pushdown)
{
	Oid owner = pushdown->read.owner;
	bool here = false;

	for (int i = 0; i < pushdown->nparts; i++)
		here = here || !pushdown->part[i].foreign;
	if (!here)
		return true;
	if (pushdown->by_nodes)
		return may_call(owner, "exact_counts", 3) && may_call(owner, "exact_words", 3);
	return may_call(owner, "exact_user_counts", 3) && may_call(owner, "unpacked_counts", 1) &&
		   may_call(owner, "exact_row_words", 3);
}

/* ------------------------------------------------------------------------
 * Citus
 * ------------------------------------------------------------------------ */

/* How Citus keeps a relation. */
typedef struct CitusTable
{
	char method;  /* of its distribution; 0: it is not Citus' */
	char *column; /* by which it is distributed; NULL: by none */
} CitusTable;

static CitusTable
citus_table(Oid relid)
{
	Oid types[1] = {OIDOID};
	Datum values[1] = {ObjectIdGetDatum(relid)};
	MemoryContext caller = CurrentMemoryContext;
	CitusTable table = {0};

	if (!OidIsValid(get_extension_oid("citus", true)))
		return table;
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute_with_args("SELECT partmethod::pg_catalog.text, CASE partmethod WHEN 'h' THEN "
							  "pg_catalog.column_to_column_name(logicalrelid, partkey) END"
							  " FROM pg_catalog.pg_dist_partition WHERE logicalrelid = $1",
							  1, types, values, NULL, true, 1) == SPI_OK_SELECT &&
		SPI_processed == 1)
	{
		table.method = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1)[0];
		table.column = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2);
		if (table.column != NULL)
			table.column = MemoryContextStrdup(caller, table.column);
	}
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	return table;
}

/*
 * Is this distributed so that all rows of a person are on one node, or not distributed at all?
 * By 'n' Citus keeps a whole table on one node, or on each.
 */
static bool
citus_agrees(Pushdown *pushdown, bool *distributed, PushRefusal *refusal)
{
	const ReadSpec *read = &pushdown->read;
	CitusTable table = citus_table(read->relid);

	*distributed = table.method != 0;
	switch (table.method)
	{
		case 0:
		case 'n':
			return true;
		case 'h':
			if (strcmp(table.column, get_attname(read->relid, read->user_attnum, false)) == 0)
				return true;
			return refuse(refusal,
						  "All rows of a person must be on one node, but the relation is not "
						  "distributed by the person's column.",
						  NULL);
		default:
			return refuse(refusal,
						  "All rows of a person must be on one node, but the relation is not "
						  "distributed by a hash.",
						  NULL);
	}
}

/* ------------------------------------------------------------------------
 * the decision
 * ------------------------------------------------------------------------ */

static bool
decide(Pushdown *pushdown, const char *tokenizer, bool automatic, PushRefusal *refusal)
{
	bool distributed;

	if (get_rel_relkind(pushdown->read.relid) == RELKIND_VIEW)
		return refuse(refusal, "What a view shows may be something else in the next statement.",
					  NULL);
	if (!citus_agrees(pushdown, &distributed, refusal))
		return false;
	if (!pushdown_parts(pushdown, refusal))
		return false;
	if (distributed)
	{
		/* what Citus does with partitions is its own affair */
		pushdown->part[0] = (PushPart){.relid = pushdown->read.relid,
									   .user_attnum = pushdown->read.user_attnum,
									   .text_attnum = pushdown->read.text_attnum,
									   .time_attnum = pushdown->read.time_attnum};
		pushdown->nparts = 1;
		pushdown->by_nodes = false;
	}
	if (automatic && !distributed && !pushdown->by_nodes)
		return refuse(refusal, "The relation's rows are here.", NULL);
	if (!set_columns(pushdown, tokenizer, refusal))
		return false;
	if (!may_read(pushdown))
		return refuse(refusal, "The relation's owner may not read all of its partitions.",
					  "Grant it SELECT on them.");
	if (!no_row_security(pushdown))
		return refuse(refusal, "Row-level security applies to the relation's owner.", NULL);
	if (!may_count(pushdown))
		return refuse(refusal, "The relation's owner may not call the functions that count here.",
					  "Grant it EXECUTE on the functions dpngram.exact_* and "
					  "dpngram.unpacked_counts.");
	if (pushdown->by_nodes && !pushdown_ships(pushdown))
		return refuse(refusal, "postgres_fdw would not let the servers count.",
					  "Install dpngram on every server, and tell postgres_fdw of it: "
					  "ALTER SERVER ... OPTIONS (ADD extensions 'dpngram').");
	return true;
}

/*
 * How the relation, which is locked, is to be counted; NULL, and why, if it can't be or,
 * where that was left to us, should not be.
 */
Pushdown *
pushdown_find(const ReadSpec *read, const char *tokenizer, bool automatic, PushRefusal *refusal)
{
	Pushdown *pushdown = palloc0(sizeof(Pushdown));
	ReadGuard guard;
	bool found;

	pushdown->read = *read;
	guard = read_guard_begin(read->owner);
	found = decide(pushdown, tokenizer, automatic, refusal);
	read_guard_end(&guard);
	return found ? pushdown : NULL;
}
