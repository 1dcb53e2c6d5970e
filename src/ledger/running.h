/*
 * running.h
 *	  The mark by which others see that a release is being computed.
 */
#ifndef DPNGRAM_RUNNING_H
#define DPNGRAM_RUNNING_H

#include "postgres.h"

extern void running_mark(int64 release);
extern void running_unmark(int64 release);

#endif /* DPNGRAM_RUNNING_H */
