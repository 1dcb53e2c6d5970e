/*
 * round.c
 *	  One round of questions to clients about nodes of a trie, and their answers.
 *
 * Privacy.  A client answers one round of a collection, the one that its place falls into,
 * and may answer with full epsilon about any number of nodes of which none lies below
 * another: its term has the prefix of at most one of them, so two terms' answers differ in
 * at most two bits, and the bits together are epsilon-differentially private (Lemma IV.3 of
 * the PrivTrie paper; oracle.c).  The server asks about no two nodes of one path, but a
 * client need not believe that: it is silent about every node that stands on a common path
 * with one that it answers about.  About which it is silent depends on the questions alone,
 * not on its term.
 *
 * Nodes are known by 64-bit fingerprints of their symbols.  Two that collide make the
 * client silent where it need not be, never the reverse.
 */
#include "common/dp_base.h"

#ifdef FRONTEND
#include "common/logging.h"
#endif

#include "local/memory.h"
#include "local/round.h"

/* What a fingerprint stands for: a node, or one that lies above such a node. */
typedef struct PathEntry
{
	uint64 key;
	char status;
	bool node;
} PathEntry;

#define SH_PREFIX paths
#define SH_ELEMENT_TYPE PathEntry
#define SH_KEY_TYPE uint64
#define SH_KEY key
#define SH_HASH_KEY(tb, key) ((uint32) (key))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#ifdef FRONTEND
#define SH_RAW_ALLOCATOR pg_malloc0
#endif
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

#define INITIAL_PATHS 64

static paths_hash *
paths_make(void)
{
#ifdef FRONTEND
	return paths_create(INITIAL_PATHS, NULL);
#else
	return paths_create(CurrentMemoryContext, INITIAL_PATHS, NULL);
#endif
}

static void
paths_remember(paths_hash *paths, uint64 key, bool node)
{
	bool found;
	PathEntry *entry = paths_insert(paths, key, &found);

	entry->node = node || (found && entry->node);
}

/* Remembers a node that is answered about, and those above it. */
static void
remember_node(paths_hash *paths, const RoundNode *node)
{
	uint64 key = 0;

	for (int i = 0; i < node->depth; i++)
	{
		key = dp_mix64(key, node->symbol[i]);
		paths_remember(paths, key, i == node->depth - 1);
	}
}

/* Has it been answered about, or a node above or below it? */
static bool
on_path(paths_hash *paths, const RoundNode *node)
{
	uint64 key = 0;

	for (int i = 0; i < node->depth; i++)
	{
		const PathEntry *entry;

		key = dp_mix64(key, node->symbol[i]);
		entry = paths_lookup(paths, key);
		if (entry != NULL && (entry->node || i == node->depth - 1))
			return true;
	}
	return false;
}

static bool
has_prefix(const RoundNode *node, const LocalTerm *term)
{
	if (term->length == 0 || node->depth > term->length + 1)
		return false;
	for (int i = 0; i < node->depth; i++)
		if (node->symbol[i] != (i < term->length ? term->symbol[i] : SYMBOL_END))
			return false;
	return true;
}

/*
 * The answers of a client that the round asks: a character for each of its nodes, '0', '1'
 * or ROUND_NO_ANSWER, and a terminator.
 */
void
round_answer(const Round *round, const Oracle *oracle, const LocalTerm *term, DpRandom *rng,
			 char *bits)
{
	paths_hash *paths = paths_make();

	for (int i = 0; i < round->n; i++)
	{
		const RoundNode *node = &round->node[i];

		CHECK_FOR_INTERRUPTS();
		bits[i] = ROUND_NO_ANSWER;
		if (node->depth == 0 || on_path(paths, node))
			continue;
		remember_node(paths, node);
		bits[i] = oracle_answer_bit(oracle, rng, has_prefix(node, term)) ? '1' : '0';
	}
	bits[round->n] = '\0';
	paths_destroy(paths);
}

/*
 * Adds one client's answers to the counts of the round's nodes; false: no client of the
 * round can have sent them, and nothing is added.
 */
bool
round_tally(const Round *round, int64 place, const char *bits, int length, int64 *supported)
{
	if (place < round->from || place >= round->to || length != round->n)
		return false;
	for (int i = 0; i < length; i++)
		if (bits[i] != '0' && bits[i] != '1')
			return false;
	for (int i = 0; i < length; i++)
		supported[i] += bits[i] == '1';
	return true;
}
