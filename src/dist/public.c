/*
 * public.c
 *	  The vocabulary of a distribution in a form in which texts find it: n-grams as
 *	  rows of word ids, in a hash table.
 */
#include "postgres.h"

#include "common/dp_random.h"
#include "compat.h"
#include "dist/public.h"
#include "dpngram_errcodes.h"
#include "miscadmin.h"
#include "utils/memutils.h"

typedef struct PublicSlot
{
	const uint32 *words; /* in the vocabulary's own array */
	uint32 hash;
	char status;
} PublicSlot;

/* Called for every position of every text: the ids are mixed as they stand. */
static inline uint32
hash_words(const PublicGrams *grams, const uint32 *words)
{
	uint64 hash = 0;

	for (int i = 0; i < grams->n; i++)
		hash = (hash ^ words[i]) * DP_SPLITMIX_GAMMA;
	return (uint32) (hash >> 32);
}

#define SH_PREFIX public_index
#define SH_ELEMENT_TYPE PublicSlot
#define SH_KEY_TYPE const uint32 *
#define SH_KEY words
#define SH_HASH_KEY(tb, key) hash_words((tb)->private_data, key)
#define SH_EQUAL(tb, a, b) \
	(memcmp(a, b, ((PublicGrams *) (tb)->private_data)->n * sizeof(uint32)) == 0)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* The length of the first token of a text: up to a blank that is not escaped, or its end. */
static int
token_length(const char *at, int left, bool escaped)
{
	int i = 0;

	while (i < left && at[i] != ' ')
		i += escaped && at[i] == '\\' && i + 1 < left ? 2 : 1;
	return i;
}

/*
 * Cuts an n-gram; false unless it has n tokens, parted by one blank each.  words: takes their
 * ids; NULL: nobody wants them.
 */
static bool
cut_gram(const PublicGrams *grams, const text *gram, uint32 *words)
{
	const char *at = VARDATA_ANY(gram);
	int left = VARSIZE_ANY_EXHDR(gram);

	for (int i = 0; i < grams->n; i++)
	{
		int len = token_length(at, left, grams->escaped);

		if (len == 0)
			return false;
		if (words != NULL)
			words[i] = vocabulary_intern(grams->words, at, len);
		at += len;
		left -= len;
		if (i == grams->n - 1)
			break;
		if (left == 0)
			return false;
		at++;
		left--;
	}
	return left == 0;
}

/* public_check: raises NG005 for an n-gram that has not n tokens. */
void
public_check(const PublicGrams *grams)
{
	for (uint32 i = 0; i < grams->size; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!cut_gram(grams, grams->gram[i], NULL))
			ereport(ERROR,
					(errcode(ERRCODE_DP_ARGUMENT),
					 errmsg("public_ngrams has an n-gram that is not of %d tokens", grams->n),
					 errhint("Tokens are parted by one blank each. The argument \"n\" is their "
							 "number.")));
	}
}

/* public_index: cuts the n-grams, which were checked, into words and makes them findable. */
void
public_index(PublicGrams *grams)
{
	grams->words = vocabulary_create(SIZE_MAX, (WordPoints){0});
	grams->token = MemoryContextAllocHuge(CurrentMemoryContext,
										  (Size) grams->size * grams->n * sizeof(uint32));
	grams->index = public_index_create(CurrentMemoryContext, grams->size, grams);
	for (uint32 i = 0; i < grams->size; i++)
	{
		uint32 *words = grams->token + (Size) i * grams->n;
		bool found;

		CHECK_FOR_INTERRUPTS();
		(void) cut_gram(grams, grams->gram[i], words);
		(void) public_index_insert(grams->index, words, &found);
	}
}

/* public_find: the number of the n-gram of these n words, or 0. */
uint32
public_find(const PublicGrams *grams, const uint32 *words)
{
	const PublicSlot *slot = public_index_lookup(grams->index, words);

	return slot == NULL ? 0 : (uint32) ((slot->words - grams->token) / grams->n) + 1;
}
