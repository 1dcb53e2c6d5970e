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
#include "datatype/timestamp.h"
#include "nodes/pg_list.h"

/* How the releases of a dataset add up; fixed when it is made (accounting.c). */
typedef enum LedgerAccounting
{
	ACCOUNTING_GDP,	 /* as Gaussian mechanisms */
	ACCOUNTING_ZCDP, /* as zero-concentrated differential privacy */
	ACCOUNTING_BASIC /* sums of epsilon and delta */
} LedgerAccounting;

/* The numbers of which dpngram.dataset has columns, in any accounting. */
typedef enum Lane
{
	LANE_MU2,			/* gdp: sum of (sensitivity / sigma)^2 */
	LANE_EPS_PURE,		/* gdp: pure epsilon */
	LANE_DELTA_ADD,		/* gdp: additive delta */
	LANE_RHO,			/* zcdp: rho */
	LANE_RHO_DELTA,		/* zcdp: additive delta */
	LANE_BASIC_EPSILON, /* basic: epsilon */
	LANE_BASIC_DELTA	/* basic: delta */
} Lane;

#define LANES 7

/* What a mechanism does that costs privacy, independent of how it is accounted. */
typedef enum LedgerEventKind
{
	EVENT_GAUSSIAN,	   /* amount: mu^2 = (l2 sensitivity / sigma)^2 */
	EVENT_LAPLACE,	   /* amount: epsilon = l1 sensitivity / scale */
	EVENT_EXPONENTIAL, /* amount: epsilon of an exponential mechanism (or Gumbel noise) */
	EVENT_PURE,		   /* amount: epsilon of any other pure mechanism */
	EVENT_LATTICE,	   /* slack of discrete noise; amount: in pure epsilon; tail: in zcdp's rho */
	EVENT_DELTA		   /* amount: additive delta */
} LedgerEventKind;

/* Amounts are upper bounds; the ledger rounds them up to its quantum. */
typedef struct LedgerEvent
{
	LedgerEventKind kind;
	int32 count; /* that many of them, chosen one after the other */
	double amount;
	double tail;
} LedgerEvent;

/* Beyond this many differing events a mechanism must bundle them. */
#define LEDGER_MAX_EVENTS 1024

/* A price: the events of a call. */
typedef struct LedgerPrice
{
	int nevents;
	LedgerEvent *event;
} LedgerPrice;

/* The rows that a call may read, where a dataset's budget is one a period. */
typedef struct LedgerPeriod
{
	bool any; /* false: all rows, one budget */
	TimestampTz from;
	TimestampTz to; /* not included */
} LedgerPeriod;

/* The terms on which a dataset is spent: they decide how a call's noise may be divided. */
typedef struct LedgerTerms
{
	char *dataset; /* its name */
	LedgerAccounting accounting;
	double delta;
	double pure_share; /* 0: unknown, or the accounting has no such lane */
	double delta_share;
	bool public_user_count; /* how many users the relations have may be told */
	double min_epsilon;		/* a call asks for so much at least */
} LedgerTerms;

/* A dataset as one caller sees it, after all checks of ledger_open(). */
typedef struct LedgerAccess
{
	int32 dataset_id;
	int32 relation_id; /* in the ledger, where its columns stand */
	LedgerTerms terms;
	Oid relid;	/* locked in AccessShareLock until the end */
	Oid owner;	/* the relation is read as this role */
	Oid caller; /* current_user */
	AttrNumber user_attnum;
	char *user_col;				   /* the privacy unit */
	List *text_columns;			   /* of char *; NIL: any column may be named */
	const struct Renewal *renewal; /* period.h */
	LedgerPeriod period;		   /* what the call reads, fixed by its charge */
	AttrNumber time_attnum;		   /* the rows' time, where there are periods */
} LedgerAccess;

#define LEDGER_MAX_CANDIDATES 4

/*
 * What is to be charged.  The call as a whole is (epsilon, delta) differentially
 * private with each of its candidates.  Of the candidates, alternatives that are each
 * sufficient for the call, the first that fits every lane is debited.
 */
typedef struct LedgerRequest
{
	const char *mechanism;
	const char *parameters; /* JSON, public, no data value */
	const char *period;		/* as the caller asked, for a forecast; a call's is its access's */
	double epsilon;			/* as the caller asked: what accounting basic debits */
	double delta;
	bool seeded; /* predictable noise (dpngram.test_seed) */
	int ncandidates;
	LedgerPrice candidates[LEDGER_MAX_CANDIDATES];
} LedgerRequest;

extern PGDLLEXPORT LedgerAccess *ledger_open(Oid relid);
extern PGDLLEXPORT void ledger_choose_period(LedgerAccess *access, const char *text);
/* what must be public is not under a budget */
extern void ledger_refuse_protected(Oid relid);

/*
 * Planning: without a charge.  The terms of a dataset that the caller may see, and
 * which of a request's candidates a call of the caller's would be debited now.
 */
extern LedgerTerms ledger_terms(const char *dataset);
extern int ledger_quote(const char *dataset, const LedgerRequest *request);

/* Has the failure of a release noted, once the present transaction or subtransaction fails. */
extern PGDLLEXPORT void ledger_release_failed(int64 release_id);

/* module start: settings of the ledger */
extern void ledger_init(void);
extern int dpngram_charge_timeout; /* milliseconds */

#endif /* DPNGRAM_LEDGER_H */
