/*
 * dataset.h
 *	  A dataset as the catalog holds it: one budget, its relations, its lock.
 */
#ifndef DPNGRAM_DATASET_H
#define DPNGRAM_DATASET_H

#include "access/attnum.h"
#include "ledger/accounting.h"
#include "ledger/catalog.h"
#include "ledger/period.h"
#include "storage/lock.h"

/* What a binding says about a relation; no part of it is ever dumped. */
typedef struct Binding
{
	uint64 system_identifier;
	int64 timeline;
	Oid database;
	Oid relid;
	AttrNumber user_attnum;
	Oid user_type;
	Oid owner;
	AttrNumber time_attnum; /* 0: the dataset has no periods */
	Oid time_type;
} Binding;

/* One relation of a dataset. */
typedef struct DatasetRelation
{
	int32 id;
	char *schema; /* names at the last binding or charge */
	char *relname;
	char *user_col;
	char *time_col; /* NULL: the dataset has no periods */
	List *columns;	/* of char *; NIL: any */
	bool bound;		/* has a binding at all */
	Binding binding;
} DatasetRelation;

/* A live dataset. */
typedef struct Dataset
{
	int32 id;
	char *name;
	char *owner; /* role name at the last binding */
	Budget budget;
	Renewal renewal;
	bool public_user_count; /* its owner declared it so */
	double min_epsilon;		/* of a call */
	LaneAmounts cap;
	LaneAmounts spent; /* in all periods */
	List *relations;   /* of DatasetRelation *; at least one */
	bool own_change;   /* made or changed by this very transaction */
} Dataset;

extern Dataset *dataset_of_relation(const Catalog *cat, Oid relid, DatasetRelation **relation);
extern Dataset *dataset_by_name(const Catalog *cat, const char *name);
extern Dataset *dataset_by_id(const Catalog *cat, int32 id);
extern DatasetRelation *dataset_first(const Dataset *dataset);
extern void dataset_lock(int32 id);
extern LOCKTAG dataset_locktag(int32 id);
extern bool dataset_lock_row(int32 id);

extern bool relation_identity(Oid relid, Oid *owner, char **schema, char **relname);

#endif /* DPNGRAM_DATASET_H */
