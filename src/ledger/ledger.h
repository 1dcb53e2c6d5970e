/*
 * ledger.h
 *	  What the SQL face asks of the privacy ledger.
 *
 * The ledger knows no mechanism: a call states the price that its mechanism
 * computed, and the ledger debits it, committed by another session, before
 * any row of the relation is read.  Nothing is ever refunded.
 */
#ifndef DPNGRAM_LEDGER_H
#define DPNGRAM_LEDGER_H

#include "postgres.h"
#include "access/attnum.h"
#include "nodes/pg_list.h"

/*
 * A price in the three lanes of mode gdp (doc/privacy.md, "The ledger").
 * Each amount is an upper bound; the ledger rounds it up to its quantum.
 */
typedef struct LedgerPrice
{
	double mu2;		  /* sum of (sensitivity / sigma)^2 */
	double eps_pure;  /* pure epsilon */
	double delta_add; /* additive delta */
} LedgerPrice;

/* A dataset as one caller sees it, after all checks of ledger_open(). */
typedef struct LedgerAccess
{
	int32 dataset_id;
	char *dataset; /* its name */
	Oid relid;	   /* locked in AccessShareLock until the end */
	Oid owner;	   /* the relation is read as this role */
	Oid caller;	   /* current_user */
	AttrNumber user_attnum;
	char *user_col;		/* the privacy unit */
	List *text_columns; /* of char *; NIL: any column may be named */
	double epsilon;		/* the dataset's budget */
	double delta;
	double pure_share;
	double delta_share;
	LedgerPrice caps; /* a price equal to them fits while nothing is spent */
} LedgerAccess;

#define LEDGER_MAX_CANDIDATES 4

/*
 * What is to be charged.  Of the candidates, alternatives that are each
 * sufficient for the call, the first that fits every lane is debited.
 */
typedef struct LedgerRequest
{
	const char *mechanism;
	const char *parameters; /* JSON, public, no data value */
	double epsilon;			/* as the caller asked */
	double delta;
	bool seeded; /* predictable noise (dpngram.test_seed) */
	int ncandidates;
	LedgerPrice candidates[LEDGER_MAX_CANDIDATES];
} LedgerRequest;

typedef struct LedgerReceipt
{
	int64 release_id;
	int chosen; /* index into candidates */
} LedgerReceipt;

extern PGDLLEXPORT LedgerAccess *ledger_open(Oid relid);
extern PGDLLEXPORT LedgerReceipt ledger_charge(const LedgerAccess *access,
											   const LedgerRequest *request);

/*
 * The end of a release, best effort: 'done' in the caller's transaction,
 * 'failed' by a worker that nobody waits for.  "used" is JSON or NULL.
 */
extern PGDLLEXPORT void ledger_release_done(int64 release_id, const char *used);
extern PGDLLEXPORT void ledger_release_failed(int64 release_id);

/* module start: settings of the ledger */
extern void ledger_init(void);
extern int dpngram_charge_timeout; /* milliseconds */

#endif /* DPNGRAM_LEDGER_H */
