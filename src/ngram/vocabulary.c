/*
 * vocabulary.c
 *	  Interning of token strings: each distinct byte string gets one id, so that
 *	  the engine handles 32-bit numbers and touches no string before its output.
 *
 * Ids are 1..n in order of arrival.  That order is an accident of the scan (a
 * synchronized scan may start anywhere), so whatever must not depend on it
 * uses vocabulary_hash() or the strings themselves.
 *
 * A token is a record in a large chunk of memory: hash, id, length, bytes.  The
 * simplehash index points to the records and repeats half of each hash, so that
 * finding a token touches two places in memory, its slot and its record; with
 * a vocabulary larger than the processor's caches nothing else costs as much.
 * An array points from ids to records.  Index and array may outgrow 1 GB and
 * are allocated as huge.  Everything lives in one memory context below the one
 * that was current in vocabulary_create(), and goes with it.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "ngram/vocabulary.h"
#include "utils/memutils.h"

#define FIRST_SLOTS 1024
#define FIRST_CHUNK ((Size) 8 * 1024)
#define LARGEST_CHUNK ((Size) 8 * 1024 * 1024)

typedef struct VocabularyToken
{
	uint64 hash;
	uint32 id;
	uint32 len;
	char bytes[FLEXIBLE_ARRAY_MEMBER]; /* not terminated */
} VocabularyToken;

typedef struct VocabularySlot
{
	VocabularyToken *token;
	uint32 hash; /* low half of the token's */
	char status;
} VocabularySlot;

struct Vocabulary
{
	MemoryContext context;
	struct vocabulary_index_hash *index;
	VocabularyToken **tokens; /* of id at [id - 1] */
	uint32 size;
	Size allocated;
	char *chunk; /* unused rest of the newest chunk */
	Size chunk_left;
	Size chunk_total; /* bytes in all chunks so far */

	/* the token that is looked for */
	const char *sought;
	uint32 sought_len;
	uint64 sought_hash;
};

static bool is_sought(const Vocabulary *vocabulary, const VocabularyToken *token);

/*
 * The index is keyed by record; the token looked for has none yet and goes by
 * NULL, its bytes waiting in the vocabulary.
 */
#define SH_PREFIX vocabulary_index
#define SH_ELEMENT_TYPE VocabularySlot
#define SH_KEY_TYPE VocabularyToken *
#define SH_KEY token
#define SH_HASH_KEY(tb, key) ((uint32) ((Vocabulary *) (tb)->private_data)->sought_hash)
#define SH_EQUAL(tb, a, b) is_sought((Vocabulary *) (tb)->private_data, a)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static inline bool
is_sought(const Vocabulary *vocabulary, const VocabularyToken *token)
{
	return token->hash == vocabulary->sought_hash && token->len == vocabulary->sought_len &&
		   memcmp(token->bytes, vocabulary->sought, token->len) == 0;
}

/*
 * vocabulary_create: an empty vocabulary, in a child of the current memory
 * context.
 */
Vocabulary *
vocabulary_create(void)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "dpngram vocabulary",
												  ALLOCSET_DEFAULT_SIZES);
	Vocabulary *vocabulary = MemoryContextAllocZero(context, sizeof(Vocabulary));

	vocabulary->context = context;
	vocabulary->index = vocabulary_index_create(context, FIRST_SLOTS, vocabulary);
	vocabulary->allocated = FIRST_SLOTS;
	vocabulary->tokens = MemoryContextAlloc(context, FIRST_SLOTS * sizeof(VocabularyToken *));
	return vocabulary;
}

/* Room for one more record, from the newest chunk or a new one. */
static VocabularyToken *
allocate_token(Vocabulary *vocabulary, uint32 len)
{
	Size need = MAXALIGN(offsetof(VocabularyToken, bytes) + (Size) len);
	char *room;

	if (need > vocabulary->chunk_left)
	{
		/* as much again as there is, so that a small vocabulary stays small */
		Size size = Max(FIRST_CHUNK, Min(LARGEST_CHUNK, vocabulary->chunk_total));

		size = Max(size, need);
		vocabulary->chunk = MemoryContextAllocHuge(vocabulary->context, size);
		vocabulary->chunk_left = size;
		vocabulary->chunk_total += size;
	}
	room = vocabulary->chunk;
	vocabulary->chunk += need;
	vocabulary->chunk_left -= need;
	return (VocabularyToken *) room;
}

/* Makes room for one more id. */
static void
reserve_id(Vocabulary *vocabulary)
{
	if (vocabulary->size >= PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the text column has too many distinct tokens"),
				 errdetail("A vocabulary holds at most %d tokens.", PG_INT32_MAX)));
	if (vocabulary->size < vocabulary->allocated)
		return;
	vocabulary->tokens = repalloc_huge(vocabulary->tokens,
									   vocabulary->allocated * 2 * sizeof(VocabularyToken *));
	vocabulary->allocated *= 2;
}

/* Makes a record of the token that was sought in vain. */
static VocabularyToken *
add_sought(Vocabulary *vocabulary)
{
	VocabularyToken *token;

	reserve_id(vocabulary);
	token = allocate_token(vocabulary, vocabulary->sought_len);
	token->hash = vocabulary->sought_hash;
	token->len = vocabulary->sought_len;
	memcpy(token->bytes, vocabulary->sought, token->len);
	vocabulary->tokens[vocabulary->size++] = token;
	token->id = vocabulary->size;
	return token;
}

static inline void
seek(Vocabulary *vocabulary, const char *token, int len)
{
	vocabulary->sought = token;
	vocabulary->sought_len = (uint32) len;
	vocabulary->sought_hash = hash_bytes_extended((const unsigned char *) token, len, 0);
}

/*
 * vocabulary_intern: the id of a token, a new one at its first appearance.
 *
 * token: len bytes, no terminator needed, copied where new.  Raises
 * ERRCODE_PROGRAM_LIMIT_EXCEEDED beyond 2^31 - 1 distinct tokens; after an
 * error the vocabulary is good for nothing but its end.
 */
uint32
vocabulary_intern(Vocabulary *vocabulary, const char *token, int len)
{
	VocabularySlot *slot;
	bool found;

	seek(vocabulary, token, len);
	slot = vocabulary_index_insert_hash(vocabulary->index, NULL, (uint32) vocabulary->sought_hash,
										&found);
	if (!found)
		slot->token = add_sought(vocabulary);
	return slot->token->id;
}

/* vocabulary_find: the id of a token, len bytes, or 0 if it has none. */
uint32
vocabulary_find(Vocabulary *vocabulary, const char *token, int len)
{
	VocabularySlot *slot;

	seek(vocabulary, token, len);
	slot = vocabulary_index_lookup_hash(vocabulary->index, NULL,
										(uint32) vocabulary->sought_hash);
	return slot == NULL ? 0 : slot->token->id;
}

/* vocabulary_size: the number of distinct tokens, which is also the largest id. */
uint32
vocabulary_size(const Vocabulary *vocabulary)
{
	return vocabulary->size;
}

/*
 * vocabulary_string: the bytes of a token; *len gets their number.  They are
 * not terminated and live as long as the vocabulary.  id: 1..vocabulary_size().
 */
const char *
vocabulary_string(const Vocabulary *vocabulary, uint32 id, int *len)
{
	const VocabularyToken *token;

	Assert(id >= 1 && id <= vocabulary->size);
	token = vocabulary->tokens[id - 1];
	*len = (int) token->len;
	return token->bytes;
}

/*
 * vocabulary_hash: a 64-bit hash of the token's bytes, the same in every run
 * and on every machine of the same byte order.  id: 1..vocabulary_size().
 */
uint64
vocabulary_hash(const Vocabulary *vocabulary, uint32 id)
{
	Assert(id >= 1 && id <= vocabulary->size);
	return vocabulary->tokens[id - 1]->hash;
}

/* vocabulary_compare: the order of two tokens by their bytes, as memcmp() has it. */
int
vocabulary_compare(const Vocabulary *vocabulary, uint32 a, uint32 b)
{
	int len_a;
	int len_b;
	const char *bytes_a = vocabulary_string(vocabulary, a, &len_a);
	const char *bytes_b = vocabulary_string(vocabulary, b, &len_b);
	int order = memcmp(bytes_a, bytes_b, Min(len_a, len_b));

	return order != 0 ? order : len_a - len_b;
}
