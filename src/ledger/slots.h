/*
 * slots.h
 *	  How many calls may have a background worker at a time, and who is next.
 */
#ifndef DPNGRAM_SLOTS_H
#define DPNGRAM_SLOTS_H

#include "datatype/timestamp.h"
#include "storage/lock.h"

/* 0: half of max_worker_processes */
extern int dpngram_max_calls;

extern long milliseconds_left(TimestampTz deadline);
extern void pause_for(long milliseconds);
extern bool lock_until(const LOCKTAG *tag, TimestampTz deadline);

extern int slots_count(void);
extern int slot_take(TimestampTz deadline);
extern void slot_free(int slot);
extern void slot_occupy(int slot);

#endif /* DPNGRAM_SLOTS_H */
