/*
 * phase_memory.c
 *	  How much memory a call takes at its peak, by the server's own count of what its
 *	  memory contexts hold and by the kernel's of the process's own pages.
 *
 * A timer asks for a sample every ten milliseconds, which is taken where the extension
 * next asks whether it is to be cancelled: there contexts are as they should be.  (Before
 * PostgreSQL 15 no timer goes off again and again, and there are no samples.)
 */
#include "postgres.h"

#include <unistd.h>

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/memutils.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "phase_clock.h"

#define SAMPLE_MILLISECONDS 10

typedef struct Sample
{
	int64 contexts; /* bytes of all memory contexts */
	int64 pages;	/* bytes of pages that are neither shared nor a file's */
} Sample;

static bool registered;
static TimeoutId timeout;
static volatile sig_atomic_t due;
static bool sampling;
static int64 samples;
static Sample first;
static Sample peak;

PG_FUNCTION_INFO_V1(phase_memory);

/* size resident shared ..., in pages */
static int64
own_pages(void)
{
	long resident = 0;
	long shared = 0;
	FILE *file = AllocateFile("/proc/self/statm", "r");

	if (file == NULL)
		return 0;
	if (fscanf(file, "%*d %ld %ld", &resident, &shared) != 2)
		resident = shared = 0;
	FreeFile(file);
	return (int64) (resident - shared) * sysconf(_SC_PAGESIZE);
}

static Sample
sample(void)
{
	return (Sample){MemoryContextMemAllocated(TopMemoryContext, true), own_pages()};
}

static void
ask_for_sample(void)
{
	due = true;
	InterruptPending = true;
}

extern void __real_ProcessInterrupts(void);
extern void __wrap_ProcessInterrupts(void);

void
__wrap_ProcessInterrupts(void)
{
	if (due && sampling)
	{
		Sample now = sample();

		due = false;
		samples++;
		peak.contexts = Max(peak.contexts, now.contexts);
		peak.pages = Max(peak.pages, now.pages);
	}
	__real_ProcessInterrupts();
}

void
phase_memory_start(void)
{
	if (!registered)
		timeout = RegisterTimeout(USER_TIMEOUT, ask_for_sample);
	registered = true;
	samples = 0;
	due = false;
	first = peak = sample();
	sampling = true;
#if PG_VERSION_NUM >= 150000
	enable_timeout_every(timeout, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), 1),
						 SAMPLE_MILLISECONDS);
#endif
}

void
phase_memory_stop(void)
{
	sampling = false;
	disable_timeout(timeout, false);
}

/*
 * phase_memory() returns how many samples there were between phase_start() and
 * phase_stop(), and the two counts at the start and at their peaks.
 */
Datum
phase_memory(PG_FUNCTION_ARGS)
{
	TupleDesc descriptor;
	Datum values[5] = {Int64GetDatum(samples), Int64GetDatum(first.contexts),
					   Int64GetDatum(peak.contexts), Int64GetDatum(first.pages),
					   Int64GetDatum(peak.pages)};
	bool nulls[5] = {false};

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls)));
}
