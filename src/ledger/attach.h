/*
 * attach.h
 *	  Puts a relation into a dataset.
 */
#ifndef DPNGRAM_ATTACH_H
#define DPNGRAM_ATTACH_H

#include "access/attnum.h"
#include "ledger/period.h"
#include "nodes/pg_list.h"
#include "utils/array.h"

/* A relation that is to belong to a dataset. */
typedef struct Attachment
{
	Oid relid;
	char *user_col;
	AttrNumber user_attnum;
	char *time_col; /* NULL: the dataset has no periods */
	AttrNumber time_attnum;
	List *columns; /* of char *; NIL: any */
} Attachment;

extern void attachment_check(Attachment *relation, ArrayType *columns);
extern void attachment_check_time(Attachment *relation, const Renewal *renewal);
extern void attach(int32 dataset, const Attachment *relation);

#endif /* DPNGRAM_ATTACH_H */
