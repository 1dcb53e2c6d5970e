/*
 * binding.h
 *	  A dataset as the catalog holds it, and whether the relation it is bound to
 *	  is still the one it was made for.
 */
#ifndef DPNGRAM_BINDING_H
#define DPNGRAM_BINDING_H

#include "access/attnum.h"
#include "ledger/catalog.h"
#include "storage/lock.h"

/* What a binding says about a relation; no part of it is ever dumped. */
typedef struct Binding
{
	uint64 system_identifier;
	Oid database;
	Oid relid;
	AttrNumber user_attnum;
	Oid user_type;
	Oid owner;
} Binding;

/* A live dataset with its relation. */
typedef struct Dataset
{
	int32 id;
	char *name;
	char *owner; /* role name at the last binding */
	double epsilon;
	double delta;
	double pure_share;
	double delta_share;
	LedgerPrice caps;
	int32 relation_id;
	char *schema; /* names at the last binding or charge */
	char *relname;
	char *user_col;
	List *columns; /* of char *; NIL: any */
	bool bound;	   /* has a binding at all */
	Binding binding;
	bool own_change; /* made or changed by this very transaction */
} Dataset;

extern Dataset *dataset_of_relation(const Catalog *cat, Oid relid);
extern Dataset *dataset_by_name(const Catalog *cat, const char *name);
extern Dataset *dataset_by_id(const Catalog *cat, int32 id);
extern void dataset_lock(int32 id);
extern void dataset_unlock(int32 id);

extern const char *binding_defect(const Dataset *dataset);
extern void binding_check(const Dataset *dataset);
extern Binding binding_make(Oid relid, AttrNumber user_attnum);
extern void binding_insert(int32 relation_id, const Binding *binding);
extern Oid dataset_relation(const Dataset *dataset);
extern Oid dataset_owner(const Dataset *dataset);
extern bool relation_identity(Oid relid, Oid *owner, char **schema, char **relname);
extern char *dataset_relation_text(const Dataset *dataset);
extern void dataset_refresh_names(const Dataset *dataset);

#endif /* DPNGRAM_BINDING_H */
