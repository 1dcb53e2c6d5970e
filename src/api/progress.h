/*
 * progress.h
 *	  Telling a session how far its release has come.
 */
#ifndef DPNGRAM_PROGRESS_H
#define DPNGRAM_PROGRESS_H

#include "tcop/dest.h"

/* Of a run: where messages go outside of it, and what it has told. */
typedef struct Progress
{
	CommandDest client;
	bool told; /* that a length had n-grams */
} Progress;

extern Progress progress_begin(CommandDest client);
extern void progress_end(Progress outer);
extern void progress_reading(void);
extern void progress_length(int length, int max_length);
extern bool progress_told(void);

#endif /* DPNGRAM_PROGRESS_H */
