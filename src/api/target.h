/*
 * target.h
 *	  Which texts a call reads.
 */
#ifndef DPNGRAM_TARGET_H
#define DPNGRAM_TARGET_H

#include "ledger/ledger.h"
#include "ngram/read.h"

/* What the caller wrote about it, checked as far as that can be without the relation. */
typedef struct TextTarget
{
	Oid relid;
	char *user_col;
	char *text_col;
	char *tokenizer;
	int max_tokens; /* 0: no limit */
	char *period;	/* a moment in it; NULL: the dataset's present one */
} TextTarget;

extern ReadSpec target_spec(LedgerAccess *access, const TextTarget *target);
extern ReadSpec target_owner_spec(const TextTarget *target, const char *function,
								  bool elsewhere);

#endif /* DPNGRAM_TARGET_H */
