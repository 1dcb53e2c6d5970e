/*
 * printed_trie.h
 *	  Algorithm 4 of the PrivTrie paper as it is printed, which asks some users twice.
 */
#ifndef PRINTED_TRIE_H
#define PRINTED_TRIE_H

#include "local/local.h"

typedef struct PrintedQuery
{
	double epsilon;
	double eta;
	int alphabet;
	int max_length;
	int64 batch;	   /* users */
	bool remove_first; /* line 17 before line 14: the correction */
} PrintedQuery;

extern bool printed_trie_run(const void *query, const Poll *poll);

#endif /* PRINTED_TRIE_H */
