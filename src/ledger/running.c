/*
 * running.c
 *	  The mark by which others see that a release is being computed: view dpngram.running.
 *
 * The log can't tell: a release that has no end may be running, or its session died.  So
 * the session holds a lock on the object (dpngram.release, number of the release), which
 * nothing else ever asks for, from the charge to the end of the call.  A lock goes with
 * its transaction, subtransaction or process, whatever ends them, and needs no shared
 * memory of our own; pg_locks shows it, and with it the session.  Others learn by it the
 * number of the release, which is a count of all releases, and when the call ended; of
 * the relation the locks that the call holds on it tell them.
 *
 * A mark is a courtesy: where the lock table is full, there is none.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "compat.h"
#include "ledger/running.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/lsyscache.h"

/* Numbers of releases have more bits than an object's: 16 more stand in objsubid. */
static LOCKTAG
mark_of(int64 release)
{
	LOCKTAG tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId,
					   get_relname_relid("release", get_namespace_oid("dpngram", false)),
					   (uint32) release, (uint16) (release >> 32));
	return tag;
}

void
running_mark(int64 release)
{
	LOCKTAG tag = mark_of(release);

	(void) LockAcquireExtended(&tag, AccessShareLock, false, true, false, NULL);
}

void
running_unmark(int64 release)
{
	LOCKTAG tag = mark_of(release);

	if (LockHeldByMe(&tag, AccessShareLock, false))
		LockRelease(&tag, AccessShareLock, false);
}
