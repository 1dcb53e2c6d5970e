/*
 * word_file.h
 *	  Texts of words that have no place in memory, by their keys.
 */
#ifndef DPNGRAM_WORD_FILE_H
#define DPNGRAM_WORD_FILE_H

#include "postgres.h"

typedef struct WordFile WordFile;

/* Takes a word; the bytes are gone after the call. */
typedef void (*WordFileVisitor)(void *state, uint64 key, const char *bytes, int len);

extern WordFile *word_file_create(int recent);
extern void word_file_add(WordFile *file, uint64 key, const char *bytes, int len);
extern void word_file_visit(WordFile *file, WordFileVisitor visit, void *state);
extern void word_file_free(WordFile *file);

#endif /* DPNGRAM_WORD_FILE_H */
