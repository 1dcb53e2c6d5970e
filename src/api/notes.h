/*
 * notes.h
 *	  The parameters of a call as JSON, for the ledger.
 */
#ifndef DPNGRAM_NOTES_H
#define DPNGRAM_NOTES_H

#include "postgres.h"

#include "lib/stringinfo.h"

/* an object that is being written: begun by the first key, closed by the caller */
extern void note_text(StringInfo json, const char *key, const char *value);
extern void note_number(StringInfo json, const char *key, double value);

#endif /* DPNGRAM_NOTES_H */
