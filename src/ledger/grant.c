/*
 * grant.c
 *	  dp_grant and dp_revoke: who may spend a dataset's budget, and how much.
 *
 * A grant belongs to a role's OID, kept in a table that is not dumped; the dumped
 * row has the role's name, from which dp_resume binds again.  So a new role of
 * an old name inherits nothing.  What a role has spent stays in its row through
 * dp_revoke and a later dp_grant: granting again is no refill.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "fmgr.h"
#include "ledger/binding.h"
#include "ledger/budget.h"
#include "ledger/json.h"
#include "ledger/owner.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

/* The arguments of dp_grant. */
typedef struct GrantSpec
{
	Oid role;
	char *name;
	bool capped;
	Budget budget; /* within the dataset's, and divided like it */
	LaneAmounts caps;
} GrantSpec;

static Oid
role_argument(const char *name)
{
	if (strcmp(name, "public") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("a dataset cannot be granted to PUBLIC"),
				 errhint("Grant it to a role that the analysts are members of.")));
	return get_role_oid(name, false);
}

/* Takes over the present names of all roles that hold a grant on the dataset. */
static void
refresh_roles(int32 dataset)
{
	CatalogArgs args = {0};

	arg_int4(&args, dataset);
	catalog_change("UPDATE dpngram.grantee g SET role = a.rolname "
				   "FROM dpngram.grantee_binding b, pg_catalog.pg_roles a "
				   "WHERE g.dataset = $1 AND b.grantee = g.id AND a.oid = b.role "
				   "AND g.role <> a.rolname",
				   &args);
}

/* The dataset's row for the role, live or revoked; 0 if it never had one. */
static int32
grantee_find(int32 dataset, Oid role, bool live)
{
	CatalogArgs args = {0};

	arg_int4(&args, dataset);
	arg_oid(&args, role);
	arg_bool(&args, live);
	if (catalog_query("SELECT g.id FROM dpngram.grantee g "
					  "JOIN dpngram.grantee_binding b ON b.grantee = g.id "
					  "WHERE g.dataset = $1 AND b.role = $2 "
					  "AND (g.revoked IS NULL OR NOT $3)",
					  &args) == 0)
		return 0;
	return row_int4(0, 1);
}

static int32
grantee_insert(int32 dataset, const GrantSpec *spec)
{
	CatalogArgs args = {0};
	CatalogArgs binding = {0};
	int32 id;

	arg_int4(&args, dataset);
	arg_text(&args, spec->name);
	catalog_query("INSERT INTO dpngram.grantee (dataset, role) VALUES ($1, $2) RETURNING id",
				  &args);
	id = row_int4(0, 1);
	arg_int4(&binding, id);
	arg_oid(&binding, spec->role);
	catalog_change("INSERT INTO dpngram.grantee_binding VALUES ($1, $2)", &binding);
	return id;
}

static void
grantee_set(int32 id, const GrantSpec *spec)
{
	CatalogArgs args = {0};

	arg_int4(&args, id);
	if (spec->capped)
	{
		arg_float8(&args, spec->budget.epsilon);
		arg_float8(&args, spec->budget.delta);
	}
	else
	{
		arg_null(&args, FLOAT8OID);
		arg_null(&args, FLOAT8OID);
	}
	arg_lanes(&args, &spec->caps);
	catalog_change("UPDATE dpngram.grantee SET epsilon = $2, delta = $3, mu2_cap = $4, "
				   "eps_pure_cap = $5, delta_add_cap = $6, rho_cap = $7, rho_delta_cap = $8, "
				   "basic_epsilon_cap = $9, basic_delta_cap = $10, revoked = NULL, "
				   "granted = pg_catalog.clock_timestamp() WHERE id = $1",
				   &args);
}

/* A cap of the grant's own: missing parts are the dataset's, none may exceed it. */
static void
grant_caps(GrantSpec *spec, const Dataset *dataset, FunctionCallInfo fcinfo)
{
	Budget *budget = &spec->budget;

	spec->capped = !PG_ARGISNULL(2) || !PG_ARGISNULL(3);
	if (!spec->capped)
		return;
	*budget = dataset->budget;
	if (!PG_ARGISNULL(2))
		budget->epsilon = PG_GETARG_FLOAT8(2);
	if (!PG_ARGISNULL(3))
		budget->delta = PG_GETARG_FLOAT8(3);
	budget_check(budget);
	if (budget->epsilon > dataset->budget.epsilon || budget->delta > dataset->budget.delta)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("a grant's budget must not exceed the dataset's"),
				 errdetail("Dataset \"%s\" has epsilon %g and delta %g.", dataset->name,
						   dataset->budget.epsilon, dataset->budget.delta)));
	spec->caps = budget_caps(budget);
}

/* A regclass argument needs USAGE on the schema; SELECT is not needed. */
static void
warn_without_usage(const DatasetRelation *relation, const GrantSpec *spec)
{
	Oid relid = relation_of(relation);
	Oid schema = OidIsValid(relid) ? get_rel_namespace(relid) : InvalidOid;

	if (!OidIsValid(schema) ||
		DatumGetBool(DirectFunctionCall3(has_schema_privilege_id_id,
										 ObjectIdGetDatum(spec->role),
										 ObjectIdGetDatum(schema),
										 CStringGetTextDatum("USAGE"))))
		return;
	ereport(WARNING,
			(errmsg("role \"%s\" cannot name the relation: it has no USAGE on schema \"%s\"",
					spec->name, get_namespace_name(schema)),
			 errhint("Grant USAGE on the schema; SELECT on the relation is not needed.")));
}

static char *
grant_json(const GrantSpec *spec)
{
	StringInfoData json;

	json_begin(&json);
	json_text(&json, "role", spec->name);
	if (spec->capped)
	{
		json_number(&json, "epsilon", spec->budget.epsilon);
		json_number(&json, "delta", spec->budget.delta);
	}
	return json_end(&json);
}

static void
refuse_null_names(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("dataset and role must not be null")));
}

PG_FUNCTION_INFO_V1(dpngram_grant);

/*
 * dp_grant(dataset, role, epsilon, delta): lets a role spend the dataset's
 * budget, up to a cap of its own if one is given.  Granting again replaces the
 * cap and keeps what was spent.
 */
Datum
dpngram_grant(PG_FUNCTION_ARGS)
{
	GrantSpec spec = {0};
	Catalog cat;
	Dataset *dataset;
	ListCell *cell;
	int32 id;

	owner_may_write("dp_grant()");
	refuse_null_names(fcinfo);
	spec.name = NameStr(*PG_GETARG_NAME(1));

	catalog_enter(&cat);
	dataset = owner_dataset(&cat, NameStr(*PG_GETARG_NAME(0)));
	binding_check(dataset, dataset_first(dataset));
	spec.role = role_argument(spec.name);
	grant_caps(&spec, dataset, fcinfo);
	refresh_roles(dataset->id);
	id = grantee_find(dataset->id, spec.role, false);
	if (id == 0)
		id = grantee_insert(dataset->id, &spec);
	grantee_set(id, &spec);
	owner_act(&cat, dataset, "dp_grant", grant_json(&spec), NULL);
	foreach (cell, dataset->relations)
		warn_without_usage(lfirst(cell), &spec);
	catalog_leave(&cat);
	PG_RETURN_VOID();
}

/* A grant whose role is gone can only be found by its name. */
static int32
grantee_find_by_name(int32 dataset, const char *name)
{
	CatalogArgs args = {0};

	arg_int4(&args, dataset);
	arg_text(&args, name);
	if (catalog_query("SELECT g.id FROM dpngram.grantee g "
					  "LEFT JOIN dpngram.grantee_binding b ON b.grantee = g.id "
					  "LEFT JOIN pg_catalog.pg_roles a ON a.oid = b.role "
					  "WHERE g.dataset = $1 AND g.role = $2 AND g.revoked IS NULL "
					  "AND a.oid IS NULL ORDER BY g.id LIMIT 1",
					  &args) == 0)
		return 0;
	return row_int4(0, 1);
}

PG_FUNCTION_INFO_V1(dpngram_revoke);

/* dp_revoke(dataset, role): takes a role's own grant away. */
Datum
dpngram_revoke(PG_FUNCTION_ARGS)
{
	CatalogArgs args = {0};
	Catalog cat;
	Dataset *dataset;
	GrantSpec spec = {0};
	int32 id = 0;

	owner_may_write("dp_revoke()");
	refuse_null_names(fcinfo);
	spec.name = NameStr(*PG_GETARG_NAME(1));

	catalog_enter(&cat);
	dataset = owner_dataset(&cat, NameStr(*PG_GETARG_NAME(0)));
	refresh_roles(dataset->id);
	spec.role = get_role_oid(spec.name, true);
	if (OidIsValid(spec.role))
		id = grantee_find(dataset->id, spec.role, true);
	if (id == 0)
		id = grantee_find_by_name(dataset->id, spec.name);
	if (id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_NOT_GRANTED),
				 errmsg("dataset \"%s\" is not granted to role \"%s\"",
						dataset->name, spec.name)));
	arg_int4(&args, id);
	catalog_change("UPDATE dpngram.grantee SET revoked = pg_catalog.clock_timestamp() "
				   "WHERE id = $1",
				   &args);
	owner_act(&cat, dataset, "dp_revoke", grant_json(&spec), NULL);
	catalog_leave(&cat);
	PG_RETURN_VOID();
}
