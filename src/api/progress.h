/*
 * progress.h
 *	  Telling a session how far its release has come.
 */
#ifndef DPNGRAM_PROGRESS_H
#define DPNGRAM_PROGRESS_H

#include "tcop/dest.h"

extern CommandDest progress_begin(CommandDest client);
extern void progress_end(CommandDest outer);
extern void progress_reading(void);
extern void progress_length(int length, int max_length);

#endif /* DPNGRAM_PROGRESS_H */
