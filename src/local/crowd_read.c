/*
 * crowd_read.c
 *	  From the relation's rows to a crowd: each user with one term, chosen at random
 *	  among its own.
 *
 * A user of whose texts none can be reported (NULL, empty, too long, or with characters
 * that are not in the alphabet) is in the crowd, too, without a term: whether a user has
 * one is as private as which, so such a user may not be missing from the number of
 * reports, and answers as all others do.
 *
 * The choice takes the term whose keyed hash is least, so that it depends on nothing but
 * the user's own terms and the key, each distinct one of them being as likely as another.
 */
#include "postgres.h"

#include "common/dp_random.h"
#include "local/crowd_read.h"
#include "ngram/vocabulary.h"
#include "utils/memutils.h"

#define INITIAL_CAPACITY 1024

/* What the reader calls a token: its number in the vocabulary, from 1. */
typedef struct CrowdReader
{
	Crowd *crowd;
	const Alphabet *alphabet;
	Vocabulary *vocabulary;
	bool escaped; /* tokens come with backslashes */
	uint64 sampling_key;

	/* of the vocabulary's tokens: the number as a term */
	uint32 *term;
	uint32 capacity;
	uint32 known;

	/* the user whose texts are arriving */
	uint64 user_key;
	uint32 chosen; /* token; 0: none yet */
	bool hashed;   /* whether the next is known */
	uint64 least;  /* the chosen one's hash */
} CrowdReader;

/* Takes out the backslashes that elements of arrays have before blanks and backslashes. */
static int
unescape(char *to, const char *from, int len)
{
	int n = 0;

	for (int i = 0; i < len; i++)
	{
		if (from[i] == '\\' && i + 1 < len)
			i++;
		to[n++] = from[i];
	}
	return n;
}

/* The number as a term of a token that was not met before. */
static uint32
new_term(CrowdReader *reader, const char *token, int len)
{
	uint16 symbol[TERM_MAX_LENGTH];
	char *plain = NULL;
	int length;

	if (reader->escaped)
	{
		plain = palloc(len + 1);
		len = unescape(plain, token, len);
	}
	length = alphabet_encode(reader->alphabet, plain ? plain : token, len, symbol);
	return length == 0 ? CROWD_NO_TERM : crowd_add_term(reader->crowd, symbol, length);
}

/* The token's number; asked before it is known whose it is. */
static uint32
reader_token(void *state, const char *token, int len)
{
	CrowdReader *reader = state;
	uint32 id = vocabulary_intern(reader->vocabulary, token, len);

	while (id >= reader->capacity)
	{
		reader->capacity *= 2;
		reader->term = repalloc_huge(reader->term, reader->capacity * sizeof(uint32));
	}
	if (id > reader->known)
	{
		reader->term[id] = new_term(reader, token, len);
		reader->known = id;
	}
	return id;
}

static void
reader_begin(void *state, uint64 hash)
{
	CrowdReader *reader = state;

	reader->user_key = dp_mix64(reader->sampling_key, hash);
	reader->chosen = 0;
}

static uint64
token_hash(const CrowdReader *reader, uint32 id)
{
	return dp_mix64(reader->user_key, vocabulary_hash(reader->vocabulary, id));
}

/* The term that is kept of two is found by hashes; most users have one only. */
static void
reader_add(void *state, uint32 id)
{
	CrowdReader *reader = state;
	uint64 hash;

	if (reader->term[id] == CROWD_NO_TERM || id == reader->chosen)
		return;
	if (reader->chosen == 0)
	{
		reader->chosen = id;
		reader->hashed = false;
		return;
	}
	if (!reader->hashed)
		reader->least = token_hash(reader, reader->chosen);
	reader->hashed = true;
	hash = token_hash(reader, id);
	if (hash < reader->least)
	{
		reader->chosen = id;
		reader->least = hash;
	}
}

static void
reader_document(void *state)
{
}

static void
reader_end(void *state)
{
	CrowdReader *reader = state;

	if (reader->crowd->users == PG_UINT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the relation has more than %u users", PG_UINT32_MAX)));
	crowd_add_user(reader->crowd,
				   reader->chosen == 0 ? CROWD_NO_TERM : reader->term[reader->chosen]);
}

/*
 * crowd_read: fills the crowd, which is to be shuffled afterwards.  The text column's
 * values are terms, those of an array each one.  Errors: as read_rows().
 */
void
crowd_read(Crowd *crowd, const ReadSpec *spec, const Alphabet *alphabet, uint64 sampling_key)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "dpngram terms",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	CrowdReader reader = {.crowd = crowd,
						  .alphabet = alphabet,
						  .vocabulary = vocabulary_create(SIZE_MAX, (WordPoints){0}),
						  .escaped = tokenizer_escapes(spec->tokenizer),
						  .sampling_key = sampling_key,
						  .term = palloc(INITIAL_CAPACITY * sizeof(uint32)),
						  .capacity = INITIAL_CAPACITY};
	ReadSink sink = {.state = &reader,
					 .token_id = reader_token,
					 .begin_user = reader_begin,
					 .add_token = reader_add,
					 .end_document = reader_document,
					 .end_user = reader_end};
	ReadSpec every_user = *spec;

	MemoryContextSwitchTo(old);
	every_user.every_user = true;
	read_rows(&every_user, &sink);
	MemoryContextDelete(context);
}
