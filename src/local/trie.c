/*
 * trie.c
 *	  The trie of prefixes that the users are asked about.
 *
 * Nodes stand in one array and are known by their number; the children of a node stand
 * together, in the order of their symbols.  So a node made later never lies above one
 * made earlier, and a walk through the array in either direction is a walk down or up.
 */
#include "common/dp_base.h"

#include "local/trie.h"

#define INITIAL_CAPACITY 1024

static void
make_room(Trie *trie, int32 n)
{
	if (n <= trie->capacity)
		return;
	while (trie->capacity < n)
		trie->capacity *= 2;
	trie->node = repalloc(trie->node, trie->capacity * sizeof(TrieNode));
}

/* A trie of the root alone. */
void
trie_init(Trie *trie, int alphabet)
{
	trie->alphabet = alphabet;
	trie->size = 1;
	trie->capacity = INITIAL_CAPACITY;
	trie->node = palloc(trie->capacity * sizeof(TrieNode));
	trie->node[TRIE_ROOT] = (TrieNode){.parent = TRIE_NONE, .first_child = TRIE_NONE};
}

void
trie_free(Trie *trie)
{
	pfree(trie->node);
	trie->node = NULL;
}

/* Gives a node that is not a whole term its children; returns the first. */
int32
trie_expand(Trie *trie, int32 node)
{
	int32 first = trie->size;
	int children = trie_children(trie);

	Assert(trie->node[node].first_child == TRIE_NONE && !trie_is_term(trie, node));
	make_room(trie, trie->size + children);
	for (int i = 0; i < children; i++)
		trie->node[first + i] = (TrieNode){.parent = node,
										   .first_child = TRIE_NONE,
										   .symbol = i,
										   .depth = trie->node[node].depth + 1};
	trie->size += children;
	trie->node[node].first_child = first;
	return first;
}

/* The symbols that lead to a node, as many as it is deep; returns their number. */
int
trie_prefix(const Trie *trie, int32 node, uint16 *symbol)
{
	int depth = trie->node[node].depth;

	for (int i = depth; i > 0; node = trie->node[node].parent)
		symbol[--i] = trie->node[node].symbol;
	return depth;
}

/* Does the term begin with the node's prefix, or is it the whole of it? */
bool
trie_holds(const Trie *trie, int32 node, const LocalTerm *term)
{
	if (term->length == 0 || trie->node[node].depth > term->length + 1)
		return false;
	for (; node != TRIE_ROOT; node = trie->node[node].parent)
	{
		int at = trie->node[node].depth - 1;

		if (trie->node[node].symbol != (at < term->length ? term->symbol[at] : SYMBOL_END))
			return false;
	}
	return true;
}
