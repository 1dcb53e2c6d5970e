/*
 * read_locks.h
 *	  The locks of a read, for the session that does nothing else.
 */
#ifndef DPNGRAM_READ_LOCKS_H
#define DPNGRAM_READ_LOCKS_H

#include "postgres.h"

extern void read_locks_begin(void);
extern void read_lock(Oid relid);
extern void read_locks_end(void);

#endif /* DPNGRAM_READ_LOCKS_H */
