/*
 * catalog.h
 *	  Reading and writing the ledger's tables as their owner.
 */
#ifndef DPNGRAM_CATALOG_H
#define DPNGRAM_CATALOG_H

#include "postgres.h"
#include "ledger/lanes.h"

/* What catalog_enter() changed and catalog_leave() puts back. */
typedef struct Catalog
{
	Oid caller; /* the role that entered */
	int security_context;
	int nestlevel;
	MemoryContext outer; /* results that outlive the visit go here */
} Catalog;

#define CATALOG_MAX_ARGS 32

typedef struct CatalogArgs
{
	int n;
	Oid types[CATALOG_MAX_ARGS];
	Datum values[CATALOG_MAX_ARGS];
	char nulls[CATALOG_MAX_ARGS];
} CatalogArgs;

extern Oid catalog_class(void);
extern int64 catalog_timeline(void);
extern void catalog_enter_any_version(Catalog *cat);
extern void catalog_enter(Catalog *cat);
extern void catalog_leave(Catalog *cat);

extern void arg_bool(CatalogArgs *args, bool value);
extern void arg_int4(CatalogArgs *args, int32 value);
extern void arg_int8(CatalogArgs *args, int64 value);
extern void arg_oid(CatalogArgs *args, Oid value);
extern void arg_time(CatalogArgs *args, TimestampTz value);
extern void arg_float8(CatalogArgs *args, double value);
extern void arg_text(CatalogArgs *args, const char *value);
extern void arg_datum(CatalogArgs *args, Oid type, Datum value);
extern void arg_null(CatalogArgs *args, Oid type);
extern void arg_lanes(CatalogArgs *args, const LaneAmounts *amounts);

extern uint64 catalog_query(const char *sql, const CatalogArgs *args);
extern uint64 catalog_change(const char *sql, const CatalogArgs *args);
extern Datum row_datum(uint64 row, int column, bool *isnull);
extern bool row_isnull(uint64 row, int column);
extern bool row_bool(uint64 row, int column);
extern int32 row_int4(uint64 row, int column);
extern int64 row_int8(uint64 row, int column);
extern Oid row_oid(uint64 row, int column);
extern double row_float8(uint64 row, int column);
extern bool row_own_change(uint64 row, int column);
extern char *row_text(const Catalog *cat, uint64 row, int column);
extern LaneAmounts row_lanes(const Catalog *cat, uint64 row, int first_column);

/* One row of the release log. */
typedef struct ReleaseEntry
{
	int32 dataset;
	const char *relation; /* as text, for the reader of the log */
	Oid session_role;
	Oid caller;
	int32 grantee; /* 0: by right of ownership */
	const char *mechanism;
	const char *parameters; /* JSON */
	bool asked;				/* epsilon and delta are given */
	double epsilon;
	double delta;
	LaneAmounts price;
	const char *events; /* JSON; NULL: none */
	LedgerPeriod period;
	bool seeded;
	bool owners_act; /* dataset.changed tells of it */
} ReleaseEntry;

extern int64 release_insert(const ReleaseEntry *entry);
extern void release_end_insert(int64 release, const char *status, const char *used);

#endif /* DPNGRAM_CATALOG_H */
