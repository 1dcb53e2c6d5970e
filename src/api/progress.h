/*
 * progress.h
 *	  Telling the caller's session how far its release has come.
 */
#ifndef DPNGRAM_PROGRESS_H
#define DPNGRAM_PROGRESS_H

#include "storage/shm_mq.h"

extern void progress_begin(shm_mq_handle *queue);
extern void progress_reading(void);
extern void progress_length(int length, int max_length);

#endif /* DPNGRAM_PROGRESS_H */
