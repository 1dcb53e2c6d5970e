/*
 * document_sort.h
 *	  Documents in the order of their users, in bounded memory.
 */
#ifndef DPNGRAM_DOCUMENT_SORT_H
#define DPNGRAM_DOCUMENT_SORT_H

#include "ngram/document.h"

typedef struct DocumentSort DocumentSort;

/* memory: in bytes; beyond it there are temporary files */
extern DocumentSort *document_sort_create(const UserType *users, Size memory);
extern void document_sort_add(DocumentSort *sort, Document *document);

/*
 * After the last was added: the next one, until the next call, and whether it is of another user
 * than the one before; NULL after the last.
 */
extern Document *document_sort_next(DocumentSort *sort, bool *new_user);
extern void document_sort_free(DocumentSort *sort);

#endif /* DPNGRAM_DOCUMENT_SORT_H */
