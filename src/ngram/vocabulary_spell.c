/*
 * vocabulary_spell.c
 *	  The texts of words that are known by their keys.
 *
 * Few words are released, and only of those the texts are asked for: one pass over all
 * words, those in memory and those in the file, looks each up among them.  That all of
 * these are seen is also what tells whether two words share a key.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "ngram/vocabulary.h"

/* A word that is asked for. */
typedef struct AskedWord
{
	uint64 key;
	uint64 content;
	uint32 place;
	char status;
} AskedWord;

#define SH_PREFIX asked
#define SH_ELEMENT_TYPE AskedWord
#define SH_KEY_TYPE uint64
#define SH_KEY key
#define SH_HASH_KEY(tb, k) ((uint32) dp_splitmix_finish(k))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct Speller
{
	asked_hash *table;
	WordText *text;
	WordPoints points;
} Speller;

/* A word that may be asked for. */
static void
offer_word(Speller *speller, ItemKey word, const char *bytes, int len)
{
	AskedWord *asked = asked_lookup(speller->table, word.key);
	WordText *text;
	char *copy;

	if (asked == NULL || asked->content != word.content)
		return;
	text = &speller->text[asked->place];
	if (text->bytes == NULL)
	{
		copy = MemoryContextAllocHuge(CurrentMemoryContext, (Size) len + 1);
		memcpy(copy, bytes, len);
		*text = (WordText){copy, len};
	}
	else if (text->len != len || memcmp(text->bytes, bytes, len) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR), errmsg("two words share a fingerprint")));
}

static void
offer_escaped(void *state, uint64 key, const char *bytes, int len)
{
	Speller *speller = state;

	if (asked_lookup(speller->table, key) != NULL)
		offer_word(speller, word_key(bytes, len, speller->points), bytes, len);
}

/*
 * vocabulary_spell: the texts of n words; NULL for those that are not known here.
 *
 * The bytes are copies, in the current memory context.  One pass over all words.  An error
 * if two words share one's key and content.
 */
void
vocabulary_spell(const Vocabulary *vocabulary, const ItemKey *word, uint32 n, WordText *text)
{
	Speller speller = {.table = asked_create(CurrentMemoryContext, n, NULL),
					   .text = text,
					   .points = vocabulary_points(vocabulary)};

	for (uint32 i = 0; i < n; i++)
	{
		bool found;
		AskedWord *asked = asked_insert(speller.table, word[i].key, &found);

		asked->content = word[i].content;
		asked->place = i;
		text[i] = (WordText){NULL, 0};
	}
	for (uint32 id = 1; id <= vocabulary_size(vocabulary); id++)
	{
		int len;
		const char *bytes = vocabulary_string(vocabulary, id, &len);

		CHECK_FOR_INTERRUPTS();
		offer_word(&speller, vocabulary_item(vocabulary, id), bytes, len);
	}
	if (!vocabulary_complete(vocabulary))
		word_file_visit(vocabulary_escapes(vocabulary), offer_escaped, &speller);
	asked_destroy(speller.table);
}
