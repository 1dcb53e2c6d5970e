/*
 * access.h
 *	  Who may spend a dataset's budget, by which grant.
 */
#ifndef DPNGRAM_ACCESS_H
#define DPNGRAM_ACCESS_H

#include "ledger/dataset.h"

/* A live grant that the caller may use. */
typedef struct Grant
{
	int32 id; /* 0: by right of ownership */
	char *role;
	bool capped; /* caps of its own */
	LaneAmounts cap;
	LaneAmounts spent;
	bool own_change;
} Grant;

extern void request_check_least(const LedgerTerms *terms, const LedgerRequest *request);
extern void refuse_unwritable(void);
extern void refuse_other_ledger(void);
extern void relation_refuse_own_change(Oid relid);
extern LedgerTerms dataset_terms(const Dataset *dataset);
extern List *grants_usable(const Catalog *cat, const Dataset *dataset,
						   const DatasetRelation *relation, Oid caller);

#endif /* DPNGRAM_ACCESS_H */
