/*
 * trie.h
 *	  The trie of prefixes that the users are asked about.
 */
#ifndef DPNGRAM_LOCAL_TRIE_H
#define DPNGRAM_LOCAL_TRIE_H

#include "local/term.h"

#define TRIE_ROOT 0
#define TRIE_NONE (-1)

/*
 * A node stands for the prefix that leads to it from the root.  The child by SYMBOL_END
 * is a leaf: the prefix is a whole term.
 */
typedef struct TrieNode
{
	int32 parent;
	int32 first_child; /* TRIE_NONE: not expanded; else SYMBOL_END's, the others follow */
	uint16 symbol;
	uint16 depth; /* symbols from the root, SYMBOL_END included */
} TrieNode;

typedef struct Trie
{
	int alphabet; /* number of characters, without SYMBOL_END */
	int32 size;
	int32 capacity;
	TrieNode *node;
} Trie;

extern void trie_init(Trie *trie, int alphabet);
extern void trie_free(Trie *trie);
extern int32 trie_expand(Trie *trie, int32 node);
extern int trie_prefix(const Trie *trie, int32 node, uint16 *symbol);
extern bool trie_holds(const Trie *trie, int32 node, const LocalTerm *term);

/* The children that an expanded node has. */
static inline int
trie_children(const Trie *trie)
{
	return trie->alphabet + 1;
}

/* Is the node a whole term? */
static inline bool
trie_is_term(const Trie *trie, int32 node)
{
	return node != TRIE_ROOT && trie->node[node].symbol == SYMBOL_END;
}

#endif /* DPNGRAM_LOCAL_TRIE_H */
