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
	uint32 *ids; /* one a position: 0 for a boundary, CORPUS_WIDE for an escape */
	uint32 positions;
	bool too_long; /* more positions than a user may have */
	Size capacity;
	bool boundary; /* is to stand before the next token */

	/* positions whose tokens wait for their ids */
	uint32 waiting[VOCABULARY_WAITING];
	int nwaiting;

	/* the words of the document's escapes, in their order */
	ItemKey *escaped;
	Size nescaped;
	Size escaped_capacity;
	uint32 *words; /* room for ids and escapes as they are kept */
	Size words_capacity;
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
	builder->ids = palloc(builder->capacity * sizeof(uint32));
	builder->escaped_capacity = 64;
	builder->escaped = palloc(builder->escaped_capacity * sizeof(ItemKey));
	builder->words_capacity = 1024;
	builder->words = palloc(builder->words_capacity * sizeof(uint32));
	return builder;
}

/* Another position. */
static inline void
hold(CorpusBuilder *builder, uint32 id)
{
	if (unlikely(builder->positions == builder->capacity))
	{
		builder->capacity *= 2;
		builder->ids = repalloc_huge(builder->ids, builder->capacity * sizeof(uint32));
	}
	builder->ids[builder->positions++] = id;
}

static void
note_escape(CorpusBuilder *builder, ItemKey item)
{
	if (builder->nescaped == builder->escaped_capacity)
	{
		builder->escaped_capacity *= 2;
		builder->escaped = repalloc_huge(builder->escaped,
										 builder->escaped_capacity * sizeof(ItemKey));
	}
	builder->escaped[builder->nescaped++] = item;
}

/* Gives the tokens that wait their ids. */
static void
settle(CorpusBuilder *builder)
{
	uint32 id[VOCABULARY_WAITING];
	ItemKey item[VOCABULARY_WAITING];

	vocabulary_settle(builder->vocabulary, id, item);
	for (int i = 0; i < builder->nwaiting; i++)
	{
		builder->ids[builder->waiting[i]] = id[i] != 0 ? id[i] : CORPUS_WIDE;
		if (id[i] == 0)
			note_escape(builder, item[i]);
	}
	builder->nwaiting = 0;
}

/* The TokenSink of the tokenizer. */
static void
take_token(void *state, const char *token, int len)
{
	CorpusBuilder *builder = state;
	uint32 id;

	if (token == NULL)
	{
		builder->boundary = builder->positions > 0;
		return;
	}
	if (builder->tokens > builder->max_tokens || ++builder->tokens > builder->max_tokens)
		return;
	/* of a user who is left out only that is of interest */
	if (builder->positions >= CORPUS_MAX_USER_TOKENS)
		builder->too_long = true;
	if (builder->too_long)
		return;
	if (builder->boundary)
		hold(builder, 0);
	builder->boundary = false;
	id = vocabulary_offer(builder->vocabulary, token, len);
	if (id == 0)
		builder->waiting[builder->nwaiting++] = builder->positions;
	hold(builder, id);
	if (builder->nwaiting == VOCABULARY_WAITING)
		settle(builder);
}

/* Writes escapes at their length; returns the number of elements. */
static uint32
write_escapes(CorpusBuilder *builder)
{
	Size n = builder->positions + builder->nescaped * (CORPUS_WIDE_WORDS - 1);
	const ItemKey *item = builder->escaped;
	uint32 *to;

	if (n > builder->words_capacity)
	{
		pfree(builder->words);
		builder->words_capacity = n + n / 2;
		builder->words = MemoryContextAllocHuge(GetMemoryChunkContext(builder),
												builder->words_capacity * sizeof(uint32));
	}
	to = builder->words;
	for (uint32 i = 0; i < builder->positions; i++)
	{
		*to++ = builder->ids[i];
		if (builder->ids[i] != CORPUS_WIDE)
			continue;
		*to++ = (uint32) item->key;
		*to++ = (uint32) (item->key >> 32);
		*to++ = (uint32) item->content;
		*to++ = (uint32) (item->content >> 32);
		item++;
	}
	return (uint32) n;
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
	builder->too_long = false;
	builder->nescaped = 0;
	builder->boundary = false;
	tokenize(builder->tokenizer, text, take_token, builder);
	settle(builder);
	if (builder->positions == 0 || builder->tokens > builder->max_tokens)
		return;
	if (builder->too_long)
		documents_add(builder->documents, hash, user, builder->ids, 0, CORPUS_MAX_USER_TOKENS + 1);
	else if (builder->nescaped == 0)
		documents_add(builder->documents, hash, user, builder->ids, builder->positions,
					  builder->positions);
	else
	{
		uint32 n = write_escapes(builder);

		documents_add(builder->documents, hash, user, builder->words, n, builder->positions);
	}
}

/*
 * corpus_builder_finish: all rows are there; the corpus is complete and the builder gone.
 * Compares users, which may run functions of their type: so under read_guard_begin().
 */
void
corpus_builder_finish(CorpusBuilder *builder)
{
	documents_group(builder->documents, builder->corpus);
	pfree(builder->ids);
	pfree(builder->escaped);
	pfree(builder->words);
	pfree(builder);
}
