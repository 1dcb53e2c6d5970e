/*
 * slots.c
 *	  How many calls may have a background worker at a time, and who is next.
 *
 * A call keeps a slot of max_worker_processes from its charge to its last row.  The server
 * needs such slots for other things, so calls have no more than dpngram.max_calls of
 * them at a time, in all databases together; the others wait for their turn.
 *
 * A turn is a lock of the lock manager, which queues those who wait in the order of their
 * asking, shows them in pg_locks, and forgets whoever is cancelled or dies.  There
 * is one such lock for each slot, and one more, the door: who holds it waits for any of the
 * slots to become free, looking now and then; all others wait at the door.  So
 * nobody is overtaken.  A role that may have fewer slots has only the first ones, and a door
 * of its own, at which it keeps nobody else waiting; others take the first ones last.  The
 * locks stand for no object: they have the class of extensions and no database, which no
 * other lock has.
 *
 * A worker has a lock of its own with its slot's number, as long as it lives: it may outlive its
 * caller's turn by what it does before it hears that it is to end.
 */
#include "postgres.h"

#include "catalog/pg_extension.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "ledger/slots.h"
#include "miscadmin.h"
#include "postmaster/bgworker_internals.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

int dpngram_max_calls = 0;

/* Pause between two looks at the slots, in milliseconds. */
#define PAUSE_FIRST 1
#define PAUSE_LAST 2

long
milliseconds_left(TimestampTz deadline)
{
	return TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
}

/* Waits on our latch; lets a cancel or a termination through. */
void
pause_for(long milliseconds)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 milliseconds, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/*
 * lock_until: takes a lock of the lock manager in ExclusiveLock; false if it can't be had
 * until then, or within the user's own lock_timeout.  After false the transaction must fail.
 */
bool
lock_until(const LOCKTAG *tag, TimestampTz deadline)
{
	MemoryContext context = CurrentMemoryContext;
	int nestlevel = NewGUCNestLevel();
	long left = Max(milliseconds_left(deadline), 1);
	volatile bool held = true;

	if (LockTimeout == 0 || LockTimeout > left)
		(void) set_config_option("lock_timeout", psprintf("%ld", left),
								 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	PG_TRY();
	{
		(void) LockAcquire(tag, ExclusiveLock, false, false);
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE)
			PG_RE_THROW();
		FlushErrorState();
		held = false;
	}
	PG_END_TRY();
	AtEOXact_GUC(false, nestlevel);
	return held;
}

/* Locks that have a number: the door to the first so many slots, a slot's turn, its worker. */
typedef enum Place
{
	DOOR,
	TURN,
	WORKER
} Place;

static LOCKTAG
place_tag(Place place, int number)
{
	LOCKTAG tag;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, ExtensionRelationId, number, place);
	return tag;
}

/* Half of the server's, unless the administrator says otherwise. */
int
slots_count(void)
{
	return dpngram_max_calls > 0 ? dpngram_max_calls : Max(max_worker_processes / 2, 1);
}

static bool
take_now(const LOCKTAG *tag)
{
	return !LockHeldByMe(tag, ExclusiveLock, false) &&
		   LockAcquire(tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

/* Nobody's turn, and no worker's that still lives? */
static bool
take_free(int slot)
{
	LOCKTAG tag = place_tag(TURN, slot);
	LOCKTAG former = place_tag(WORKER, slot);

	if (!take_now(&tag))
		return false;
	if (take_now(&former))
	{
		LockRelease(&former, ExclusiveLock, false);
		return true;
	}
	LockRelease(&tag, ExclusiveLock, false);
	return false;
}

/* A slot that is free now, or 0. */
static int
free_slot(void)
{
	for (int slot = slots_count(); slot > 0; slot--)
	{
		if (take_free(slot))
			return slot;
	}
	return 0;
}

static void
no_slot(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_CHARGE_FAILED),
			 errmsg("charge could not be committed"),
			 errdetail("Other calls had all of the %d slots for calls for as long as "
					   "dpngram.charge_timeout. Nothing was charged.",
					   slots_count()),
			 errhint("Try again, or raise dpngram.max_calls, and max_worker_processes with it.")));
}

/* slot_take: waits until it is our turn, and for a slot; NG006 at the deadline. */
int
slot_take(TimestampTz deadline)
{
	LOCKTAG door = place_tag(DOOR, slots_count());
	long pause = PAUSE_FIRST;
	int slot;

	if (!lock_until(&door, deadline))
		no_slot();
	while ((slot = free_slot()) == 0)
	{
		long left = milliseconds_left(deadline);

		if (left <= 0)
			no_slot();
		pause_for(Min(pause, left));
		pause = Min(pause * 2, PAUSE_LAST);
	}
	LockRelease(&door, ExclusiveLock, false);
	return slot;
}

void
slot_free(int slot)
{
	LOCKTAG tag = place_tag(TURN, slot);

	LockRelease(&tag, ExclusiveLock, false);
}

/* slot_occupy: in the worker, until it ends or its transaction fails. */
void
slot_occupy(int slot)
{
	LOCKTAG tag = place_tag(WORKER, slot);

	(void) LockAcquire(&tag, ExclusiveLock, true, false);
}
