/*
 * worker.h
 *	  How every background worker of the ledger begins.
 */
#ifndef DPNGRAM_WORKER_H
#define DPNGRAM_WORKER_H

#include "postgres.h"
#include "storage/dsm.h"

extern void worker_begin(void);
extern dsm_segment *worker_segment(Datum main_arg);
extern void worker_connect(Oid database);
extern void worker_settings(long lock_timeout);

#endif /* DPNGRAM_WORKER_H */
