/*
 * crowd_read.h
 *	  From the relation's rows to a crowd.
 */
#ifndef DPNGRAM_LOCAL_CROWD_READ_H
#define DPNGRAM_LOCAL_CROWD_READ_H

#include "postgres.h"

#include "local/alphabet.h"
#include "local/crowd.h"
#include "ngram/read.h"

extern void crowd_read(Crowd *crowd, const ReadSpec *spec, const Alphabet *alphabet,
					   uint64 sampling_key);

#endif /* DPNGRAM_LOCAL_CROWD_READ_H */
