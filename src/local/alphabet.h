/*
 * alphabet.h
 *	  The public set of characters that terms are made of.
 */
#ifndef DPNGRAM_LOCAL_ALPHABET_H
#define DPNGRAM_LOCAL_ALPHABET_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "local/term.h"
#include "mb/pg_wchar.h"

typedef struct Alphabet
{
	int size;
	pg_wchar *character; /* ascending; character[i] is symbol i + 1 */
} Alphabet;

extern Alphabet *alphabet_parse(const char *spec);
extern int alphabet_encode(const Alphabet *alphabet, const char *text, int len, uint16 *symbol);
extern char *alphabet_text(const Alphabet *alphabet, const uint16 *symbol, int length);

#endif /* DPNGRAM_LOCAL_ALPHABET_H */
