/*
 * document_sort.c
 *	  Documents in the order of their users, in bounded memory.
 *
 * For those whose hashes don't tell them apart: PostgreSQL's sort does it, by the comparison of the
 * users' type, on rows of a user and a record.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "compat.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "ngram/document_sort.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

struct DocumentSort
{
	const UserType *users;
	MemoryContext context;
	Tuplesortstate *state;
	bool sorted;
	TupleTableSlot *in;
	TupleTableSlot *out;
	Document *present;
};

#define LEAST_MEMORY 64 /* kB */

static Tuplesortstate *
begin(const UserType *users, TupleDesc columns, Size memory)
{
	AttrNumber user = 1;
	Oid less = lookup_type_cache(users->type, TYPECACHE_LT_OPR)->lt_opr;
	Oid collation = users->collation;
	bool nulls_first = false;

	return tuplesort_begin_heap(columns, 1, &user, &less, &collation, &nulls_first,
								(int) Max(memory / 1024, LEAST_MEMORY), NULL, TUPLESORT_NONE);
}

/* The type must outlive the sort. */
DocumentSort *
document_sort_create(const UserType *users, Size memory)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "dpngram document sort",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	DocumentSort *sort = palloc0(sizeof(DocumentSort));
	TupleDesc columns = CreateTemplateTupleDesc(2);

	sort->users = users;
	sort->context = context;
	TupleDescInitEntry(columns, 1, NULL, users->type, -1, 0);
	TupleDescInitEntry(columns, 2, NULL, BYTEAOID, -1, 0);
	sort->in = MakeSingleTupleTableSlot(columns, &TTSOpsVirtual);
	sort->out = MakeSingleTupleTableSlot(columns, &TTSOpsMinimalTuple);
	sort->state = begin(users, columns, memory);
	MemoryContextSwitchTo(old);
	return sort;
}

void
document_sort_add(DocumentSort *sort, Document *document)
{
	bytea *record = MemoryContextAllocHuge(sort->context, VARHDRSZ + document->size);

	SET_VARSIZE(record, VARHDRSZ + document->size);
	memcpy(VARDATA(record), document, document->size);
	ExecClearTuple(sort->in);
	sort->in->tts_values[0] = document_user(sort->users, document);
	sort->in->tts_values[1] = PointerGetDatum(record);
	sort->in->tts_isnull[0] = sort->in->tts_isnull[1] = false;
	ExecStoreVirtualTuple(sort->in);
	tuplesort_puttupleslot(sort->state, sort->in);
	pfree(record);
}

/* The record of the row at hand, where it is aligned. */
static Document *
copy_record(const DocumentSort *sort)
{
	bool isnull;
	bytea *record = DatumGetByteaPP(slot_getattr(sort->out, 2, &isnull));
	Document *document = MemoryContextAllocHuge(sort->context, VARSIZE_ANY_EXHDR(record));

	memcpy(document, VARDATA_ANY(record), VARSIZE_ANY_EXHDR(record));
	return document;
}

Document *
document_sort_next(DocumentSort *sort, bool *new_user)
{
	Document *before = sort->present;

	CHECK_FOR_INTERRUPTS();
	if (!sort->sorted)
		tuplesort_performsort(sort->state);
	sort->sorted = true;
	if (!tuplesort_gettupleslot(sort->state, true, false, sort->out, NULL))
		return NULL;
	sort->present = copy_record(sort);
	*new_user = before == NULL || !same_user(sort->users, document_user(sort->users, before),
											 document_user(sort->users, sort->present));
	if (before != NULL)
		pfree(before);
	return sort->present;
}

void
document_sort_free(DocumentSort *sort)
{
	tuplesort_end(sort->state);
	ExecDropSingleTupleTableSlot(sort->out);
	ExecDropSingleTupleTableSlot(sort->in);
	MemoryContextDelete(sort->context);
}
