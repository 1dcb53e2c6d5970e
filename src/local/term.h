/*
 * term.h
 *	  A user's term, as symbols of a public alphabet.
 */
#ifndef DPNGRAM_LOCAL_TERM_H
#define DPNGRAM_LOCAL_TERM_H

#include "common/dp_base.h"

/* Ends a term; the paper's "&".  Characters of the alphabet are 1, 2, ... */
#define SYMBOL_END 0

/* Characters that an alphabet may have, and symbols that a term may have. */
#define ALPHABET_MAX_SIZE 65534
#define TERM_MAX_LENGTH 1000

/*
 * length 0: the user has no term that could be reported.  Such a user answers like all
 * others, and says "no" to every question.
 */
typedef struct LocalTerm
{
	int length;
	const uint16 *symbol; /* 1 .. size of the alphabet; without SYMBOL_END */
} LocalTerm;

#endif /* DPNGRAM_LOCAL_TERM_H */
