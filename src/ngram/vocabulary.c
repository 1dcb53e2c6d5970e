/*
 * vocabulary.c
 *	  Interning of token strings: each distinct byte string gets one id, so that
 *	  the engine handles 32-bit numbers and touches no string before its output.
 *
 * Ids are 1..n in order of arrival.  That order is an accident of the scan (a
 * synchronized scan may start anywhere), so whatever must not depend on it
 * uses vocabulary_hash() or the strings themselves.
 *
 * Three parts: the strings, packed into large chunks; one entry an id with the
 * string's place, length and 64-bit content hash; and a simplehash index whose
 * slots hold the id and half of the hash, so that a probe reads an entry only
 * where 32 bits of hash agree already.  Entries and index may outgrow 1 GB and
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

typedef struct VocabularyEntry
{
	const char *string; /* not terminated */
	uint64 hash;
	uint32 len;
} VocabularyEntry;

typedef struct VocabularySlot
{
	uint32 id;
	uint32 hash; /* low half of the entry's */
	char status;
} VocabularySlot;

struct Vocabulary
{
	MemoryContext context;
	struct vocabulary_index_hash *index;
	VocabularyEntry *entries; /* of id at [id - 1] */
	uint32 size;
	Size allocated;
	char *chunk; /* unused rest of the newest chunk */
	Size chunk_left;
	Size chunk_total;		/* bytes in all chunks so far */
	VocabularyEntry sought; /* what the index compares id 0 with */
};

static bool slot_matches(const Vocabulary *vocabulary, uint32 id);

/*
 * The index is keyed by id; the token looked for has no id yet and goes by 0,
 * its string waiting in "sought".
 */
#define SH_PREFIX vocabulary_index
#define SH_ELEMENT_TYPE VocabularySlot
#define SH_KEY_TYPE uint32
#define SH_KEY id
#define SH_HASH_KEY(tb, key) ((uint32) ((Vocabulary *) (tb)->private_data)->sought.hash)
#define SH_EQUAL(tb, a, b) slot_matches((Vocabulary *) (tb)->private_data, a)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static inline bool
slot_matches(const Vocabulary *vocabulary, uint32 id)
{
	const VocabularyEntry *entry = &vocabulary->entries[id - 1];
	const VocabularyEntry *sought = &vocabulary->sought;

	return entry->hash == sought->hash && entry->len == sought->len &&
		   memcmp(entry->string, sought->string, entry->len) == 0;
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
	vocabulary->entries = MemoryContextAlloc(context,
											 FIRST_SLOTS * sizeof(VocabularyEntry));
	return vocabulary;
}

/* Copies a string to the arena. */
static const char *
keep_string(Vocabulary *vocabulary, const char *string, uint32 len)
{
	char *copy;

	if (len > vocabulary->chunk_left)
	{
		/* as much again as there is, so that a small vocabulary stays small */
		Size size = Max(FIRST_CHUNK, Min(LARGEST_CHUNK, vocabulary->chunk_total));

		size = Max(size, len);
		vocabulary->chunk = MemoryContextAllocHuge(vocabulary->context, size);
		vocabulary->chunk_left = size;
		vocabulary->chunk_total += size;
	}
	copy = vocabulary->chunk;
	memcpy(copy, string, len);
	vocabulary->chunk += len;
	vocabulary->chunk_left -= len;
	return copy;
}

/* Makes room for one more entry. */
static void
reserve_entry(Vocabulary *vocabulary)
{
	if (vocabulary->size >= PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the text column has too many distinct tokens"),
				 errdetail("A vocabulary holds at most %d tokens.", PG_INT32_MAX)));
	if (vocabulary->size < vocabulary->allocated)
		return;
	vocabulary->entries =
		repalloc_huge(vocabulary->entries,
					  vocabulary->allocated * 2 * sizeof(VocabularyEntry));
	vocabulary->allocated *= 2;
}

/*
 * vocabulary_intern: the id of a token, a new one at its first appearance.
 *
 * token: len bytes, no terminator needed, copied where new.  Raises
 * ERRCODE_PROGRAM_LIMIT_EXCEEDED beyond 2^31 - 1 distinct tokens.
 */
uint32
vocabulary_intern(Vocabulary *vocabulary, const char *token, int len)
{
	VocabularyEntry *sought = &vocabulary->sought;
	VocabularySlot *slot;
	bool found;

	sought->string = token;
	sought->len = (uint32) len;
	sought->hash = hash_bytes_extended((const unsigned char *) token, len, 0);

	slot = vocabulary_index_lookup_hash(vocabulary->index, 0, (uint32) sought->hash);
	if (likely(slot != NULL))
		return slot->id;

	/*
	 * What can fail comes before the insertion: a slot without an entry must
	 * never be seen.
	 */
	reserve_entry(vocabulary);
	sought->string = keep_string(vocabulary, token, sought->len);
	slot = vocabulary_index_insert_hash(vocabulary->index, 0,
										(uint32) sought->hash, &found);
	Assert(!found);
	vocabulary->entries[vocabulary->size++] = *sought;
	slot->id = vocabulary->size;
	return slot->id;
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
	const VocabularyEntry *entry;

	Assert(id >= 1 && id <= vocabulary->size);
	entry = &vocabulary->entries[id - 1];
	*len = (int) entry->len;
	return entry->string;
}

/*
 * vocabulary_hash: a 64-bit hash of the token's bytes, the same in every run
 * and on every machine of the same byte order.  id: 1..vocabulary_size().
 */
uint64
vocabulary_hash(const Vocabulary *vocabulary, uint32 id)
{
	Assert(id >= 1 && id <= vocabulary->size);
	return vocabulary->entries[id - 1].hash;
}
