/*
 * corpus_builder.c
 *	  From rows in any order to a corpus: each text is cut into tokens, the tokens get
 *	  their ids, and in the end documents are grouped by user.
 *
 * Knows no relation and runs no query, so it works in a parallel worker as well.  What it
 * makes of a user depends on that user's rows alone: a document that is too long is
 * dropped whole, and boundaries in a row, or at either end of a document, are none.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "ngram/corpus_builder.h"
#include "ngram/documents.h"
#include "utils/memutils.h"

struct CorpusBuilder
{
	Tokenizer *tokenizer;
	Vocabulary *vocabulary;
	Corpus *corpus;
	Documents *documents;
	int64 max_tokens;

	/* the document being cut; held back while it may turn out too long */
	int64 tokens;
	uint32 positions;
	uint32 *words; /* ids or escapes, and 0 for a boundary */
	Size n;
	Size capacity;
	bool boundary; /* is to stand before the next token */
};

/*
 * corpus_builder_create: a builder of the corpus, which is empty and whose memory limit
 * holds for the documents, too.
 *
 * max_tokens: longer documents are dropped; 0: no limit.  users: read_user_type().
 */
CorpusBuilder *
corpus_builder_create(Tokenizer *tokenizer, int max_tokens, const UserType *users,
					  Vocabulary *vocabulary, Corpus *corpus)
{
	CorpusBuilder *builder = palloc0(sizeof(CorpusBuilder));

	builder->tokenizer = tokenizer;
	builder->vocabulary = vocabulary;
	builder->corpus = corpus;
	builder->documents = documents_create(users, corpus_room(corpus));
	builder->max_tokens = max_tokens == 0 ? PG_INT64_MAX : max_tokens;
	builder->capacity = 1024;
	builder->words = palloc(builder->capacity * sizeof(uint32));
	return builder;
}

/* Another position, which takes n elements; beyond the cap on a user's they are only counted. */
static inline void
hold(CorpusBuilder *builder, const uint32 *words, int n)
{
	if (builder->positions >= CORPUS_MAX_USER_TOKENS)
	{
		builder->positions = CORPUS_MAX_USER_TOKENS + 1;
		return;
	}
	builder->positions++;
	if (builder->n + n > builder->capacity)
	{
		builder->capacity *= 2;
		builder->words = repalloc_huge(builder->words, builder->capacity * sizeof(uint32));
	}
	for (int i = 0; i < n; i++)
		builder->words[builder->n++] = words[i];
}

/* The word that the vocabulary has just had no id for. */
static void
hold_escape(CorpusBuilder *builder)
{
	ItemKey item = vocabulary_escaped(builder->vocabulary);
	uint32 words[CORPUS_WIDE_WORDS] = {CORPUS_WIDE, (uint32) item.key, (uint32) (item.key >> 32),
									   (uint32) item.content, (uint32) (item.content >> 32)};

	hold(builder, words, CORPUS_WIDE_WORDS);
}

/* The TokenSink of the tokenizer. */
static void
take_token(void *state, const char *token, int len)
{
	CorpusBuilder *builder = state;
	uint32 id = 0;

	if (token == NULL)
	{
		builder->boundary = builder->positions > 0;
		return;
	}
	if (builder->tokens > builder->max_tokens || ++builder->tokens > builder->max_tokens)
		return;
	if (builder->boundary)
		hold(builder, &id, 1);
	builder->boundary = false;
	id = vocabulary_intern(builder->vocabulary, token, len);
	if (id != 0)
		hold(builder, &id, 1);
	else
		hold_escape(builder);
}

/*
 * corpus_builder_add: a row, as read_documents() hands it out, or a copy of it.  Allocates in
 * the current memory context, which the caller resets between rows.
 */
void
corpus_builder_add(CorpusBuilder *builder, uint64 hash, Datum user, Datum text)
{
	builder->tokens = 0;
	builder->positions = 0;
	builder->n = 0;
	builder->boundary = false;
	tokenize(builder->tokenizer, text, take_token, builder);
	if (builder->positions == 0 || builder->tokens > builder->max_tokens)
		return;
	if (builder->positions > CORPUS_MAX_USER_TOKENS)
		builder->n = 0; /* that there was such a document is enough */
	documents_add(builder->documents, hash, user, builder->words, (uint32) builder->n,
				  builder->positions);
}

/*
 * corpus_builder_finish: all rows are there; the corpus is complete and the builder gone.
 * Compares users, which may run functions of their type: so under read_guard_begin().
 */
void
corpus_builder_finish(CorpusBuilder *builder)
{
	documents_group(builder->documents, builder->corpus);
	pfree(builder->words);
	pfree(builder);
}
