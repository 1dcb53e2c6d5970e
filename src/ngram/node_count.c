/*
 * node_count.c
 *	  From one document, and from one user's n-grams, to exact weights: what a node does.
 *
 * A coordinator asks for one level at a time, and a node keeps nothing between two
 * statements.  So each document goes the whole way at once: tokens, numbers of released
 * words, numbers of released pairs of these and so on up to the level, all by looking
 * things up in the sets that came with the statement.  N-grams never cross documents, so
 * what is left of a document are the keys of its n-grams, mostly few.
 *
 * What makes the result the same as that of a process that holds the texts (source_local.c):
 * words by word_key(), pairs of numbers by walk.h, a user's choice among more n-grams than
 * the bound by the same keyed hash.  A user's weights are those of rounds.c; where all
 * biases are the full one, they are those of extract.c.
 */
#include "postgres.h"

#include "catalog/partition.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/dp_weights.h"
#include "dpngram_errcodes.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "ngram/fingerprint.h"
#include "ngram/extract.h"
#include "ngram/node_count.h"
#include "ngram/noise.h"
#include "ngram/users.h"
#include "ngram/walk.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

struct NodeCounter
{
	NodeSpec *spec;
	Tokenizer *tokenizer;
	UserType users;
	Pairs *number[NGRAM_MAX_LENGTH + 1]; /* of the members of S_1 .. S_{level-1}, by key */
	Pairs *bias;						 /* places of the biases, from 1, likewise */

	/* the document at hand */
	int64 tokens;
	int64 positions; /* tokens, and one for the end of each stretch of them but the last */
	bool parted;	 /* a stretch has ended */
	Size n;
	Size capacity;
	uint32 *word;  /* number in S_1 by position, 0 for others; level 2 and above */
	uint32 *id;	   /* number in S_j while j grows */
	ItemKey *item; /* the document's n-grams */

	/* what takes its words, if not the above */
	WordSink words;
	void *words_state;
};

/* ------------------------------------------------------------------------
 * creation
 * ------------------------------------------------------------------------ */

static Pairs *
numbers_of(const uint64 *key, uint32 n)
{
	GramSet set = {.n = n, .key = unconstify(uint64 *, key)};

	return pairs_create(&set, NULL);
}

static void
add_to_probe(void *state, const char *token, int len)
{
	uint64 *probe = state;

	*probe = dp_mix64(*probe, hash_bytes_extended((const unsigned char *) token, len, 0));
}

/* The characters of the database's encoding, or its first two thousand, between letters. */
static Datum
probe_text(void)
{
	StringInfoData text;
	int last = pg_database_encoding_max_length() > 1 ? 0x7f : 0xff;

	if (GetDatabaseEncoding() == PG_UTF8)
		last = 0x7ff;
	initStringInfo(&text);
	for (int c = ' '; c <= last; c++)
	{
		unsigned char bytes[5] = {(unsigned char) c};

		if (last > 0xff)
			(void) unicode_to_utf8((pg_wchar) c, bytes);
		appendStringInfo(&text, "a%sB", (char *) bytes);
	}
	return PointerGetDatum(cstring_to_text_with_len(text.data, text.len));
}

/*
 * A hash of the tokens of a fixed text.  Databases in which it is the same cut and
 * lower-case texts in the same way, whatever their locales are called.  Words are always
 * looked at: users, too, may be equal but for upper case.
 */
uint64
node_probe(const char *tokenizer, Oid text_type)
{
	Datum text = probe_text();
	uint64 probe = 1;

	tokenize(tokenizer_create("word", TEXTOID), text, add_to_probe, &probe);
	if (!OidIsValid(get_element_type(getBaseType(text_type))))
		tokenize(tokenizer_create(tokenizer, TEXTOID), text, add_to_probe, &probe);
	return probe;
}

static void
check_type(Oid type, const char *expected)
{
	char *name = format_type_extended(getBaseType(type), -1, FORMAT_TYPE_FORCE_QUALIFY);

	if (strcmp(name, expected) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_COLUMN),
				 errmsg("a column is of another type than on the coordinator")));
}

/* Is what the coordinator takes for a user, a word and an order the same here? */
static void
check_sameness(const NodeSpec *spec, Oid user_type, Oid collation, Oid text_type)
{
	check_type(user_type, spec->user_type);
	check_type(text_type, spec->text_type);
	if (node_probe(spec->tokenizer, text_type) != spec->probe)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("this database cuts texts into words in another way than the coordinator"),
				 errhint("Databases must have the same LC_CTYPE.")));
	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_DP_COLUMN),
				 errmsg("the users' column has a nondeterministic collation")));
	if (spec->byte_order && !collation_is_bytes(collation))
		ereport(ERROR,
				(errcode(ERRCODE_DP_COLUMN),
				 errmsg("the users' column has not the collation \"C\", by which its relation is "
						"partitioned")));
}

/* What counts by this specification, for columns of these types, in the current context. */
NodeCounter *
node_counter_create(NodeSpec *spec, Oid user_type_id, Oid collation, Oid text_type)
{
	NodeCounter *counter = palloc0(sizeof(NodeCounter));

	check_sameness(spec, user_type_id, collation, text_type);
	counter->spec = spec;
	counter->tokenizer = tokenizer_create(spec->tokenizer, text_type);
	/* any order that brings equal users together: for texts that of their bytes */
	counter->users = user_type(getBaseType(user_type_id), OidIsValid(collation) ? C_COLLATION_OID :
																				  InvalidOid);
	if (!user_type_hashed(&counter->users) ||
		!OidIsValid(counter->users.entry->cmp_proc_finfo.fn_oid))
		ereport(ERROR,
				(errcode(ERRCODE_DP_COLUMN),
				 errmsg("type %s has no hash function or no order",
						format_type_be(counter->users.type))));
	for (int k = 1; k < spec->level; k++)
		counter->number[k] = numbers_of(spec->key[k], spec->n[k]);
	counter->bias = numbers_of(spec->biased, spec->nbiases);
	counter->capacity = 1024;
	counter->word = palloc(counter->capacity * sizeof(uint32));
	counter->id = palloc(counter->capacity * sizeof(uint32));
	counter->item = palloc(counter->capacity * sizeof(ItemKey));
	return counter;
}

const NodeSpec *
node_counter_spec(const NodeCounter *counter)
{
	return counter->spec;
}

const UserType *
node_users(const NodeCounter *counter)
{
	return &counter->users;
}

/* ------------------------------------------------------------------------
 * users
 * ------------------------------------------------------------------------ */

/* As satisfies_hash_partition() has it, for one column. */
static void
check_partition(const NodeCounter *counter, Datum user)
{
	const NodeSpec *spec = counter->spec;
	const UserType *users = &counter->users;
	uint64 hash;

	hash = DatumGetUInt64(FunctionCall2Coll(&users->entry->hash_extended_proc_finfo,
											users->collation, user,
											UInt64GetDatum(HASH_PARTITION_SEED)));
	hash = hash_combine64(0, hash);
	for (int i = 0; i < spec->nhashes; i++)
		if (hash % (uint64) spec->hash[i].modulus != (uint64) spec->hash[i].remainder)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("there is a row whose user belongs into another partition")));
}

/*
 * A hash that equal users share.  An error for a user who has
 * no business here: the user's other rows are on another node, where they are bounded by
 * themselves.
 */
uint64
node_user_hash(const NodeCounter *counter, Datum user)
{
	if (counter->spec->nhashes > 0)
		check_partition(counter, user);
	return user_hash(&counter->users, user);
}

/* The n-grams of a user are to be added to the list. */
void
node_begin_user(const NodeCounter *counter, ItemList *items, uint64 hash)
{
	const NodeSpec *spec = counter->spec;
	uint64 key = spec->count.sampling_key ^ NOISE_ROUND(spec->level, spec->draw);

	item_list_begin_user(items, spec->count.bound[spec->level], dp_mix64(key, hash));
}

static uint32
bias_of(const NodeCounter *counter, ItemKey item)
{
	uint32 place = counter->spec->nbiases > 0 ? pair_number(counter->bias, item.key) : 0;

	return place == 0 ? DP_BIAS_ONE : counter->spec->bias[place - 1];
}

/*
 * All of the user's n-grams are in the list: each counts once, no more of them than the
 * bound, and together no more than one.
 */
void
node_contribute(const NodeCounter *counter, ItemList *items, int64 positions, WeightSink sink,
				void *state)
{
	uint64 squares = 0;
	DpNorm norm;

	if (items->n == 0 || positions > CORPUS_MAX_USER_TOKENS)
		return;
	extract_bound(items);
	for (Size i = 0; i < items->n; i++)
	{
		uint64 bias = bias_of(counter, items->item[i]);

		squares += bias * bias;
	}
	if (squares == 0)
		return;
	norm = dp_norm(squares);
	for (Size i = 0; i < items->n; i++)
	{
		uint32 bias = bias_of(counter, items->item[i]);

		if (bias > 0)
			sink(state, items->item[i], dp_biased_weight(norm, bias));
	}
}

/* ------------------------------------------------------------------------
 * documents
 * ------------------------------------------------------------------------ */

static void
reserve(NodeCounter *counter)
{
	if (counter->n < counter->capacity)
		return;
	counter->capacity *= 2;
	counter->word = repalloc_huge(counter->word, counter->capacity * sizeof(uint32));
	counter->id = repalloc_huge(counter->id, counter->capacity * sizeof(uint32));
	counter->item = repalloc_huge(counter->item, counter->capacity * sizeof(ItemKey));
}

/* No n-gram spans this place. */
static void
end_stretch(NodeCounter *counter)
{
	reserve(counter);
	if (counter->spec->level > 1 && counter->n > 0 && counter->word[counter->n - 1] != 0)
		counter->word[counter->n++] = 0;
}

/* The TokenSink of the tokenizer. */
static void
take_token(void *state, const char *token, int len)
{
	NodeCounter *counter = state;
	const NodeSpec *spec = counter->spec;
	uint32 number;
	ItemKey key;

	if (token == NULL)
	{
		counter->parted = counter->tokens > 0;
		end_stretch(counter);
		return;
	}
	counter->tokens++;
	counter->positions += counter->parted ? 2 : 1;
	counter->parted = false;
	if (spec->count.max_tokens > 0 && counter->tokens > spec->count.max_tokens)
		return;
	key = word_key(token, len, spec->count.points);
	reserve(counter);
	if (spec->level == 1)
	{
		counter->item[counter->n++] = key;
		return;
	}
	number = pair_number(counter->number[1], key.key);
	if (number == 0)
		end_stretch(counter);
	else if (counter->words != NULL)
		counter->words(counter->words_state, number, token, len);
	else
		counter->word[counter->n++] = number;
}

/* Cuts a document; false if nothing of it counts. */
static bool
cut(NodeCounter *counter, Datum text)
{
	int max_tokens = counter->spec->count.max_tokens;

	counter->tokens = 0;
	counter->positions = 0;
	counter->parted = false;
	counter->n = 0;
	tokenize(counter->tokenizer, text, take_token, counter);
	return counter->tokens > 0 && (max_tokens == 0 || counter->tokens <= max_tokens);
}

/*
 * The n-grams of a document, valid until the next; returns how many positions it has,
 * n-grams or not, without the one for its end.
 */
int64
node_document(NodeCounter *counter, Datum text, const ItemKey **item, Size *n)
{
	int level = counter->spec->level;
	NgramPruning pruning = counter->spec->count.pruning;
	CorpusUser document;

	*n = 0;
	counter->words = NULL;
	if (!cut(counter, text))
		return 0;
	*item = counter->item;
	if (level == 1)
	{
		*n = counter->n;
		return counter->positions;
	}
	memcpy(counter->id, counter->word, counter->n * sizeof(uint32));
	document = (CorpusUser){.n = (uint32) counter->n, .id = counter->id, .token = counter->word};
	for (int j = 2; j < level; j++)
		walk_rewrite(&document, j, pruning, counter->number[j]);
	for (uint32 p = 0; p < document.n; p++)
	{
		uint64 key = walk_key(&document, p, level, pruning);

		if (key != 0)
			counter->item[(*n)++] = level_item(key, level);
	}
	return counter->positions;
}

/* Hands the words of a document that are in S_1 to the sink. */
void
node_words(NodeCounter *counter, Datum text, WordSink sink, void *state)
{
	counter->words = sink;
	counter->words_state = state;
	(void) cut(counter, text);
}
