/*
 * documents.h
 *	  Tokenised documents in the order in which they came, until they are grouped by user.
 */
#ifndef DPNGRAM_DOCUMENTS_H
#define DPNGRAM_DOCUMENTS_H

#include "ngram/corpus.h"
#include "ngram/users.h"

typedef struct Documents Documents;

extern Documents *documents_create(const UserType *users, Size memory_limit);
extern void documents_add(Documents *documents, uint64 hash, Datum user, const uint32 *words,
						  uint32 n, uint32 positions);
extern void documents_group(Documents *documents, Corpus *corpus);

#endif /* DPNGRAM_DOCUMENTS_H */
