/*
 * compat.h
 *	  The differences between PostgreSQL 14 and 18 that the sources meet, from the newest on.
 *
 * The sources are written as for the newest version: macros give an older one the newer
 * names and arguments.  What test/versions finds to differ belongs here, so that no other
 * file need know a version; only a worker's settings (worker.c), the start of the module
 * (module.c) and the timeline (catalog.c) are told apart where they are.
 *
 * PostgreSQL 13 lacks too much (a receiver for what SPI executes, sort_template.h, HMAC),
 * and Makefile refuses it.
 */
#ifndef DPNGRAM_COMPAT_H
#define DPNGRAM_COMPAT_H

#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/tuplesort.h"

#if PG_VERSION_NUM >= 180000

/* PostgreSQL 18 lets the caller say whether a lock that is not had is to be logged. */
#define LockAcquireExtended(tag, mode, session, dont_wait, report, local) \
	LockAcquireExtended(tag, mode, session, dont_wait, report, local, false)

/* or leave room in front of a tuple, */
#define heap_form_minimal_tuple(columns, values, nulls) \
	heap_form_minimal_tuple(columns, values, nulls, 0)

/* and its header of collations names only two of them */
#define POSIX_COLLATION_OID 951

#else

/* PostgreSQL 18 marks functions that don't return in front. */
#define pg_noreturn pg_attribute_noreturn()

#endif

#if PG_VERSION_NUM < 170000

/* PostgreSQL 17 lets the caller say whether a stronger lock will do. */
#define LockHeldByMe(tag, mode, or_stronger) LockHeldByMe(tag, mode)

#endif

#if PG_VERSION_NUM >= 160000

/* what VARDATA_ANY() and the like need; before, postgres.h had it */
#include "varatt.h"

/* one function for all kinds of objects took the place of many */
#define pg_proc_aclcheck(function, role, mode) \
	object_aclcheck(ProcedureRelationId, function, role, mode)

#define DEBUG_PARALLEL_SETTING "debug_parallel_query"

#else

/* PostgreSQL 16 lets the caller say whether the value is to be copied. */
#define tuplesort_getdatum(state, forward, copy, val, isnull, abbrev) \
	tuplesort_getdatum(state, forward, val, isnull, abbrev)

#define DEBUG_PARALLEL_SETTING "force_parallel_mode"

#endif

#if PG_VERSION_NUM < 150000

#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "storage/shm_mq.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#define TUPLESORT_NONE false

/* PostgreSQL 15 lets the writer say whether the reader is to be woken at once. */
#define shm_mq_send(queue, n, data, nowait, flush) shm_mq_send(queue, n, data, nowait)
#define shm_mq_sendv(queue, part, n, nowait, flush) shm_mq_sendv(queue, part, n, nowait)

#define MAT_SRF_USE_EXPECTED_DESC 0x01

/* as in PostgreSQL 15, for its flags used here */
static inline void
InitMaterializedSRF(FunctionCallInfo fcinfo, bits32 flags)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext old;

	if (rsinfo == NULL || !IsA(rsinfo, ReturnSetInfo) ||
		(rsinfo->allowedModes & SFRM_Materialize) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));
	old = MemoryContextSwitchTo(rsinfo->econtext->ecxt_per_query_memory);
	if (flags & MAT_SRF_USE_EXPECTED_DESC)
		rsinfo->setDesc = CreateTupleDescCopy(rsinfo->expectedDesc);
	else if (get_call_result_type(fcinfo, NULL, &rsinfo->setDesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	rsinfo->returnMode = SFRM_Materialize;
	rsinfo->setResult = tuplestore_begin_heap((rsinfo->allowedModes & SFRM_Materialize_Random) != 0,
											  false, work_mem);
	MemoryContextSwitchTo(old);
}

#endif

#endif /* DPNGRAM_COMPAT_H */
