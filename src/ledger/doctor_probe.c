/*
 * doctor_probe.c
 *	  The checks of dp_doctor that are no queries: is a relation suspended, and can
 *	  a charge be made: does a background worker start and reach the database?
 */
#include "postgres.h"

#include "access/xlog.h"
#include "dpngram_errcodes.h"
#include "ledger/carry.h"
#include "ledger/doctor.h"
#include "ledger/slots.h"
#include "ledger/worker.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

/* A suspended relation can't be asked for; the dataset's others can. */
void
doctor_probe_binding(DoctorReport *report, const Dataset *dataset)
{
	ListCell *cell;

	foreach (cell, dataset->relations)
	{
		const DatasetRelation *relation = lfirst(cell);
		const char *defect = binding_defect(relation);

		if (defect == NULL)
			defect = carry_newcomers(dataset, relation->binding.relid);
		if (defect != NULL)
			doctor_found(report, psprintf("relation %s", relation_text(relation)), defect,
						 psprintf("SELECT dp_resume(%s)", quote_literal_cstr(dataset->name)));
	}
}

static void
worker_missing(DoctorReport *report, const char *detail)
{
	doctor_found(report, "background worker", detail, NULL);
}

static bool
probe_start(dsm_segment *dsm, TimestampTz deadline, BackgroundWorkerHandle **handle)
{
	BackgroundWorker worker;

	worker_describe(&worker, "dpngram_probe_main", "dpngram probe");
	worker.bgw_main_arg = UInt32GetDatum(dsm_segment_handle(dsm));
	worker.bgw_notify_pid = MyProcPid;
	while (!RegisterDynamicBackgroundWorker(&worker, handle))
	{
		if (milliseconds_left(deadline) <= 0)
			return false;
		pause_for(Min(milliseconds_left(deadline), 50));
	}
	return true;
}

/* Waits for the worker's answer; says in words why there is none. */
static const char *
probe_wait(ProbeSegment *segment, BackgroundWorkerHandle *handle, TimestampTz deadline)
{
	for (;;)
	{
		pid_t pid;
		BgwHandleStatus status = GetBackgroundWorkerPid(handle, &pid);

		if (pg_atomic_read_u32(&segment->reached) != 0)
			return NULL;
		if (status == BGWH_STOPPED || status == BGWH_POSTMASTER_DIED)
			return "one was started, but could not connect";
		if (milliseconds_left(deadline) <= 0)
		{
			TerminateBackgroundWorker(handle);
			return "one was started, but did not connect within dpngram.charge_timeout";
		}
		pause_for(milliseconds_left(deadline));
	}
}

/* Does by way of trial what every charge begins with. */
void
doctor_probe_worker(DoctorReport *report, const Dataset *dataset)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													   dpngram_charge_timeout);
	BackgroundWorkerHandle *handle;
	dsm_segment *dsm;
	ProbeSegment *segment;
	const char *failure = "none was free within dpngram.charge_timeout";

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("no background worker can be tried during recovery")));
	dsm = dsm_create(sizeof(ProbeSegment), DSM_CREATE_NULL_IF_MAXSEGMENTS);
	if (dsm == NULL)
	{
		worker_missing(report, "there is no free dynamic shared memory segment for one");
		return;
	}
	segment = dsm_segment_address(dsm);
	pg_atomic_init_u32(&segment->reached, 0);
	segment->asker = MyProc;
	segment->database = MyDatabaseId;
	if (probe_start(dsm, deadline, &handle))
		failure = probe_wait(segment, handle, deadline);
	dsm_detach(dsm);
	if (failure != NULL)
		worker_missing(report, failure);
}
