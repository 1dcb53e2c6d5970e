/*
 * length.h
 *	  How long terms are taken to be: Estimate_l, under local differential privacy.
 */
#ifndef DPNGRAM_LOCAL_LENGTH_H
#define DPNGRAM_LOCAL_LENGTH_H

#include "local/poll.h"

extern DpStatus local_length(const Poll *poll, int64 from, int64 to, double epsilon, int longest,
							 int *length);

#endif /* DPNGRAM_LOCAL_LENGTH_H */
