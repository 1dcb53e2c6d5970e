/*
 * vocabulary.c
 *	  Interning of token strings: each distinct byte string gets one id, so that
 *	  the engine handles 32-bit numbers and touches no string before its output.
 *
 * Ids are 1..n in order of arrival.  That order is an accident of the scan (a
 * synchronized scan may start anywhere), so whatever must not depend on it
 * uses vocabulary_hash(), vocabulary_item() or the strings themselves.
 *
 * Finding a token is what reading costs most, by the places in memory that it touches.
 * Most tokens are short and were met a moment ago: a small table of those tells the id by
 * their bytes, without a hash.  Else there is a slot of eight bytes in the index,
 * which repeats half of the token's hash, and by the id in it a record in an array,
 * which has a short token's bytes in it and points to those of a longer one.
 *
 * A vocabulary may be given a memory limit.  When that is reached it takes no more
 * words: tokens that have no id are known by their keys (word_key() in fingerprint.h)
 * alone, and their strings go to a file, from where those that are asked for in the end
 * are read.  Words that are frequent have come early, and have ids.
 *
 * Index and array may outgrow 1 GB and are allocated as huge.  Everything lives in
 * a memory context below the one that was current in vocabulary_create(), and goes with
 * it, but for the file, which vocabulary_forget() closes; without a limit there is none.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "ngram/fingerprint.h"
#include "ngram/prefetch.h"
#include "ngram/recent_tokens.h"
#include "ngram/vocabulary.h"
#include "utils/memutils.h"

#define FIRST_SLOTS 256
#define FIRST_WORDS 64
#define FIRST_CHUNK ((Size) 8 * 1024)
#define LARGEST_CHUNK ((Size) 1024 * 1024)

/* Words written to the file that are remembered there. */
#define RECENT_WRITTEN 4096

typedef struct VocabularySlot
{
	uint32 hash; /* low half of the token's */
	uint32 id : 31;
	uint32 status : 1; /* simplehash's: empty or in use */
} VocabularySlot;

/* A token that waits for its slot to be fetched. */
typedef struct WaitingToken
{
	RecentToken recent;
	uint64 hash;
	Size at; /* its bytes, among those of all that wait */
	uint32 len;
} WaitingToken;

struct Vocabulary
{
	MemoryContext context;
	struct vocabulary_index_hash *index;
	VocabularyWord *words; /* of id at [id - 1] */
	uint32 size;
	Size allocated;
	char *chunk; /* unused rest of the newest chunk */
	Size chunk_left;
	Size chunk_total;  /* bytes in all chunks so far */
	WordPoints points; /* of the words' keys */

	/* memory */
	Size limit;
	bool full;			  /* no more words */
	WordFile *escaped;	  /* words that came then */
	ItemKey escaped_item; /* the last of them */

	/* the token that is looked for */
	const char *sought;
	uint32 sought_len;
	uint64 sought_hash;

	/* tokens that wait, and their bytes */
	WaitingToken waiting[VOCABULARY_WAITING];
	int nwaiting;
	char *wait_bytes;
	Size wait_used;
	Size wait_capacity;

	RecentTokens recent;
};

static bool is_sought(const Vocabulary *vocabulary, uint32 id);

/*
 * The index is keyed by id; the token looked for has none yet and goes by 0, its bytes
 * waiting in the vocabulary.
 */
#define SH_PREFIX vocabulary_index
#define SH_ELEMENT_TYPE VocabularySlot
#define SH_KEY_TYPE uint32
#define SH_KEY id
#define SH_HASH_KEY(tb, key) ((uint32) ((Vocabulary *) (tb)->private_data)->sought_hash)
#define SH_EQUAL(tb, a, b) is_sought((Vocabulary *) (tb)->private_data, a)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static inline const char *
word_bytes(const VocabularyWord *word)
{
	const char *far;

	if (word->len <= VOCABULARY_NEAR)
		return word->bytes;
	memcpy(&far, word->bytes, sizeof(far));
	return far;
}

static inline bool
is_sought(const Vocabulary *vocabulary, uint32 id)
{
	const VocabularyWord *word = &vocabulary->words[id - 1];

	return word->len == vocabulary->sought_len &&
		   memcmp(word_bytes(word), vocabulary->sought, word->len) == 0;
}

/*
 * vocabulary_create: an empty vocabulary, in a child of the current memory
 * context.
 *
 * memory_limit: bytes, SIZE_MAX for no limit.  points: of the words' keys, where they
 * matter; that is with every limit.
 */
Vocabulary *
vocabulary_create(Size memory_limit, WordPoints points)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "dpngram vocabulary",
												  ALLOCSET_DEFAULT_SIZES);
	Vocabulary *vocabulary = palloc0(sizeof(Vocabulary));

	vocabulary->context = context;
	vocabulary->index = vocabulary_index_create(context, FIRST_SLOTS, vocabulary);
	vocabulary->allocated = FIRST_WORDS;
	vocabulary->words = MemoryContextAlloc(context, FIRST_WORDS * sizeof(VocabularyWord));
	vocabulary->limit = memory_limit;
	vocabulary->points = points;
	return vocabulary;
}

/* ---- room ---- */

/* A long token's bytes, in the newest chunk or a new one. */
static char *
store_bytes(Vocabulary *vocabulary, const char *bytes, uint32 len)
{
	char *room;

	if (len > vocabulary->chunk_left)
	{
		/* a quarter of what there is, so that a small vocabulary stays small */
		Size size = Max(FIRST_CHUNK, Min(LARGEST_CHUNK, vocabulary->chunk_total / 4));

		size = Max(size, len);
		vocabulary->chunk = MemoryContextAllocHuge(vocabulary->context, size);
		vocabulary->chunk_left = size;
		vocabulary->chunk_total += size;
	}
	room = vocabulary->chunk;
	vocabulary->chunk += len;
	vocabulary->chunk_left -= len;
	memcpy(room, bytes, len);
	return room;
}

static inline Size
grown(Size allocated)
{
	return allocated + Max(allocated / 4, FIRST_WORDS);
}

/*
 * Is there room within the limit for a new word of so many bytes?  The index stands
 * beside one of twice its size while it grows.
 */
static bool
has_room(const Vocabulary *vocabulary, uint32 len)
{
	Size slots = vocabulary->index->size;
	Size words = vocabulary->allocated;
	Size bytes = vocabulary->chunk_total;

	/* at this load it may, where slots collide in a row */
	if (vocabulary->index->members >= slots / 10 * 7)
		slots *= 3;
	if (vocabulary->size == words)
		words = grown(words);
	if (len > VOCABULARY_NEAR && len > vocabulary->chunk_left)
		bytes += Max(Max(FIRST_CHUNK, bytes / 4), len);
	return slots * sizeof(VocabularySlot) + words * sizeof(VocabularyWord) + bytes <=
		   vocabulary->limit;
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
	vocabulary->allocated = grown(vocabulary->allocated);
	vocabulary->words = repalloc_huge(vocabulary->words,
									  vocabulary->allocated * sizeof(VocabularyWord));
}

/* Room for the bytes of one more token that waits. */
static void
reserve_wait(Vocabulary *vocabulary, uint32 len)
{
	if (vocabulary->wait_bytes == NULL)
		vocabulary->wait_bytes = MemoryContextAlloc(vocabulary->context, FIRST_CHUNK);
	vocabulary->wait_capacity = Max(FIRST_CHUNK, 2 * (vocabulary->wait_used + len));
	vocabulary->wait_bytes = repalloc_huge(vocabulary->wait_bytes, vocabulary->wait_capacity);
}

/* ---- interning ---- */

/* Makes a word of the token that was sought in vain; returns its id. */
static uint32
add_sought(Vocabulary *vocabulary)
{
	const char *bytes = vocabulary->sought;
	uint32 len = vocabulary->sought_len;
	VocabularyWord *word;

	reserve_id(vocabulary);
	word = &vocabulary->words[vocabulary->size];
	word->item = word_key(bytes, (int) len, vocabulary->points);
	word->len = len;
	if (len <= VOCABULARY_NEAR)
		memcpy(word->bytes, bytes, len);
	else
	{
		const char *far = store_bytes(vocabulary, bytes, len);

		memcpy(word->bytes, &far, sizeof(far));
	}
	return ++vocabulary->size;
}

static inline void
seek(Vocabulary *vocabulary, const char *token, int len)
{
	vocabulary->sought = token;
	vocabulary->sought_len = (uint32) len;
	vocabulary->sought_hash = hash_bytes_extended((const unsigned char *) token, len, 0);
}

static inline VocabularySlot *
first_slot(const Vocabulary *vocabulary, uint64 hash)
{
	return &vocabulary->index->data[(uint32) hash & vocabulary->index->sizemask];
}

static inline uint32
lookup_sought(Vocabulary *vocabulary)
{
	VocabularySlot *slot = vocabulary_index_lookup_hash(vocabulary->index, 0,
														(uint32) vocabulary->sought_hash);

	return slot == NULL ? 0 : slot->id;
}

/* The id of a token that was not met lately, or 0 if there is none for it. */
static uint32
intern_sought(Vocabulary *vocabulary)
{
	VocabularySlot *slot;
	uint32 id;
	bool found;

	if (vocabulary->limit != SIZE_MAX &&
		(vocabulary->full || !has_room(vocabulary, vocabulary->sought_len)))
	{
		id = lookup_sought(vocabulary);
		/* shorter words might still fit, but a word must have an id always or never */
		vocabulary->full |= id == 0;
		return id;
	}
	slot = vocabulary_index_insert_hash(vocabulary->index, 0, (uint32) vocabulary->sought_hash,
										&found);
	if (found)
		return slot->id;
	id = add_sought(vocabulary);
	slot->id = id;
	return id;
}

/* The word that was sought has no id: its text goes to the file. */
static void
escape_sought(Vocabulary *vocabulary)
{
	vocabulary->escaped_item = word_key(vocabulary->sought, (int) vocabulary->sought_len,
										vocabulary->points);
	if (vocabulary->escaped == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(vocabulary->context);

		vocabulary->escaped = word_file_create(RECENT_WRITTEN);
		MemoryContextSwitchTo(old);
	}
	word_file_add(vocabulary->escaped, vocabulary->escaped_item.key, vocabulary->sought,
				  (int) vocabulary->sought_len);
}

/* The id of the token that is sought, or 0, when its text is in the file. */
static uint32
settle_sought(Vocabulary *vocabulary, const RecentToken *recent)
{
	uint32 id = intern_sought(vocabulary);

	if (id == 0)
		escape_sought(vocabulary);
	else if (recent->len != 0)
		recent_remember(&vocabulary->recent, recent, id);
	return id;
}

/*
 * vocabulary_intern: the id of a token, a new one at its first appearance, or 0 if memory
 * was full at that time; then vocabulary_escaped() tells what the token is known by.
 *
 * token: len bytes, no terminator needed, copied where new.  Raises
 * ERRCODE_PROGRAM_LIMIT_EXCEEDED beyond 2^31 - 1 distinct tokens; after an
 * error the vocabulary is good for nothing but its end.
 */
uint32
vocabulary_intern(Vocabulary *vocabulary, const char *token, int len)
{
	RecentToken recent = short_token(token, len);
	uint32 id;

	if (recent.len != 0 && (id = recent_find(&vocabulary->recent, &recent)) != 0)
		return id;
	seek(vocabulary, token, len);
	return settle_sought(vocabulary, &recent);
}

/*
 * vocabulary_offer: the id of a token that was met lately; for others 0, and the token
 * waits for vocabulary_settle(), while its slot is being fetched from memory.
 *
 * At most VOCABULARY_WAITING tokens may wait.
 */
uint32
vocabulary_offer(Vocabulary *vocabulary, const char *token, int len)
{
	RecentToken recent = short_token(token, len);
	WaitingToken *waiting;
	uint32 id;

	if (recent.len != 0 && (id = recent_find(&vocabulary->recent, &recent)) != 0)
		return id;
	Assert(vocabulary->nwaiting < VOCABULARY_WAITING);
	waiting = &vocabulary->waiting[vocabulary->nwaiting++];
	waiting->recent = recent;
	waiting->hash = hash_bytes_extended((const unsigned char *) token, len, 0);
	waiting->len = (uint32) len;
	waiting->at = vocabulary->wait_used;
	dp_prefetch(first_slot(vocabulary, waiting->hash));
	if (vocabulary->wait_used + len > vocabulary->wait_capacity)
		reserve_wait(vocabulary, len);
	memcpy(vocabulary->wait_bytes + waiting->at, token, len);
	vocabulary->wait_used += len;
	return 0;
}

/*
 * vocabulary_settle: interns the tokens that wait, in the order in which they were offered.
 * id gets their ids, or 0, and then item what the token is known by.
 */
void
vocabulary_settle(Vocabulary *vocabulary, uint32 *id, ItemKey *item)
{
	for (int i = 0; i < vocabulary->nwaiting; i++)
	{
		const VocabularySlot *slot = first_slot(vocabulary, vocabulary->waiting[i].hash);

		/* most tokens are in their first slot */
		if (slot->status != 0 && slot->hash == (uint32) vocabulary->waiting[i].hash)
			dp_prefetch(&vocabulary->words[slot->id - 1]);
	}
	for (int i = 0; i < vocabulary->nwaiting; i++)
	{
		WaitingToken *waiting = &vocabulary->waiting[i];

		vocabulary->sought = vocabulary->wait_bytes + waiting->at;
		vocabulary->sought_len = waiting->len;
		vocabulary->sought_hash = waiting->hash;
		id[i] = settle_sought(vocabulary, &waiting->recent);
		if (id[i] == 0)
			item[i] = vocabulary->escaped_item;
	}
	vocabulary->nwaiting = 0;
	vocabulary->wait_used = 0;
}

/* vocabulary_escaped: the token that vocabulary_intern() has just had no id for. */
ItemKey
vocabulary_escaped(const Vocabulary *vocabulary)
{
	return vocabulary->escaped_item;
}

/* vocabulary_find: the id of a token, len bytes, or 0 if it has none. */
uint32
vocabulary_find(Vocabulary *vocabulary, const char *token, int len)
{
	seek(vocabulary, token, len);
	return lookup_sought(vocabulary);
}

/* ---- what is known of words ---- */

static inline const VocabularyWord *
word_of(const Vocabulary *vocabulary, uint32 id)
{
	Assert(id >= 1 && id <= vocabulary->size);
	return &vocabulary->words[id - 1];
}

/* vocabulary_size: the number of ids, which is also the largest id. */
uint32
vocabulary_size(const Vocabulary *vocabulary)
{
	return vocabulary->size;
}

/* vocabulary_points: of the words' keys */
WordPoints
vocabulary_points(const Vocabulary *vocabulary)
{
	return vocabulary->points;
}

/* vocabulary_escapes: the words without ids, or NULL. */
WordFile *
vocabulary_escapes(const Vocabulary *vocabulary)
{
	return vocabulary->escaped;
}

/* vocabulary_complete: has every word an id? */
bool
vocabulary_complete(const Vocabulary *vocabulary)
{
	return vocabulary->escaped == NULL;
}

/*
 * vocabulary_string: the bytes of a token; *len gets their number.  They are not
 * terminated and stay where they are until the next word comes.  id: 1..vocabulary_size().
 */
const char *
vocabulary_string(const Vocabulary *vocabulary, uint32 id, int *len)
{
	const VocabularyWord *word = word_of(vocabulary, id);

	*len = (int) word->len;
	return word_bytes(word);
}

/*
 * vocabulary_hash: a 64-bit hash of the token's bytes, the same in every run
 * and on every machine of the same byte order.  id: 1..vocabulary_size().
 */
uint64
vocabulary_hash(const Vocabulary *vocabulary, uint32 id)
{
	const VocabularyWord *word = word_of(vocabulary, id);

	return hash_bytes_extended((const unsigned char *) word_bytes(word), (int) word->len, 0);
}

/* vocabulary_item: the token as an n-gram of level 1, by word_key().  id: 1..vocabulary_size(). */
ItemKey
vocabulary_item(const Vocabulary *vocabulary, uint32 id)
{
	return word_of(vocabulary, id)->item;
}

/* vocabulary_words: what is known of id at [id - 1]; it moves when the next word comes. */
const VocabularyWord *
vocabulary_words(const Vocabulary *vocabulary)
{
	return vocabulary->words;
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

/* ---- the end ---- */

static void
drop_words(Vocabulary *vocabulary)
{
	if (vocabulary->escaped != NULL)
		word_file_free(vocabulary->escaped);
	vocabulary->escaped = NULL;
	vocabulary->size = 0;
	MemoryContextReset(vocabulary->context);
}

/*
 * vocabulary_forget: where memory is limited, the words and their memory go; ids that
 * were given are numbers of nothing from now on.
 */
void
vocabulary_forget(Vocabulary *vocabulary)
{
	if (vocabulary->limit != SIZE_MAX)
		drop_words(vocabulary);
}

void
vocabulary_free(Vocabulary *vocabulary)
{
	drop_words(vocabulary);
	MemoryContextDelete(vocabulary->context);
	pfree(vocabulary);
}
