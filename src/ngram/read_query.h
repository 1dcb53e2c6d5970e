/*
 * read_query.h
 *	  The query that reads a relation, and the protection that it runs under.
 */
#ifndef DPNGRAM_READ_QUERY_H
#define DPNGRAM_READ_QUERY_H

#include "compat.h"
#include "ngram/read.h"
#include "tcop/dest.h"

/* Columns of the query, from 1. */
#define USER_COLUMN 1
#define TEXT_COLUMN 2

/* What read_guard_end() puts back. */
typedef struct ReadGuard
{
	Oid user;
	int context;
} ReadGuard;

extern ReadGuard read_guard_begin(Oid owner);
extern void read_guard_end(const ReadGuard *guard);
extern void read_try(const ReadSpec *spec);
extern void read_query(const ReadSpec *spec, bool ordered, DestReceiver *receiver);
pg_noreturn extern void report_disorder(void);

#endif /* DPNGRAM_READ_QUERY_H */
