/*
 * carry.h
 *	  What a relation has lost in datasets that it belonged to before.
 */
#ifndef DPNGRAM_CARRY_H
#define DPNGRAM_CARRY_H

#include "ledger/attach.h"
#include "ledger/dataset.h"

/* How a dataset takes a former one's calls. */
typedef enum CarriedHow
{
	CARRIED_SUM,	   /* debited as a sum */
	CARRIED_BY_PERIOD, /* each counted in the periods that it read */
	CARRIED_FORGOTTEN  /* not at all, by a superuser's word */
} CarriedHow;

typedef struct CarriedSource
{
	int32 dataset;
	int64 releases; /* those after this one are not counted */
	CarriedHow how;
} CarriedSource;

typedef struct Carried
{
	List *sources;	   /* of CarriedSource * */
	LaneAmounts spent; /* the sum to debit */
	bool any;		   /* something was spent */
} Carried;

extern Carried carry_sources(const Catalog *cat, const Attachment *relation, int32 has,
							 const Renewal *renewal, bool carry_forward);
extern void carry_record(int32 dataset, const Carried *carried);
extern void carry_json(StringInfo json, const Carried *carried);
extern void carry_refuse_other_time(const Dataset *dataset, const Attachment *relation);
extern const char *carry_newcomers(const Dataset *dataset, Oid relid);
extern Carried carry_catch_up(const Catalog *cat, const Dataset *dataset);
extern void carry_refuse_overdraft(const Catalog *cat, const Dataset *dataset,
								   const Carried *carried);

#endif /* DPNGRAM_CARRY_H */
