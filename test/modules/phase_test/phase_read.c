/*
 * phase_read.c
 *	  The reading of a relation, as far as one wishes.
 *
 * Its phases take turns at every token, too fast for a clock.  So a call can be made to
 * go only a part of the way: the query alone, with the tokenizer, with the vocabulary, with
 * the store of documents, with their grouping by user.  The difference of two such calls
 * is what a part costs.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "ngram/documents.h"
#include "ngram/extract.h"
#include "ngram/read.h"
#include "phase_clock.h"

typedef enum Stage
{
	STAGE_QUERY,
	STAGE_TOKENS,
	STAGE_WORDS,
	STAGE_DOCUMENTS,
	STAGE_CORPUS,
	STAGE_ALL
} Stage;

static Stage stage = STAGE_ALL;
static int64 tokens;

PG_FUNCTION_INFO_V1(phase_stage);
PG_FUNCTION_INFO_V1(phase_tokens);

/* phase_stage(text): how far calls of this session go from here on. */
Datum
phase_stage(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"query", "tokens", "words", "documents", "corpus", "all"};
	char *name = text_to_cstring(PG_GETARG_TEXT_PP(0));

	for (int i = 0; i < (int) lengthof(names); i++)
		if (strcmp(name, names[i]) == 0)
		{
			stage = i;
			PG_RETURN_VOID();
		}
	elog(ERROR, "no such stage");
}

/* phase_tokens() returns bigint: how many tokens the last call of stage "tokens" met. */
Datum
phase_tokens(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(tokens);
}

static void
count_token(void *state, const char *token, int len)
{
	tokens += token != NULL;
}

extern void __real_tokenize(Tokenizer *tokenizer, Datum value, TokenSink sink, void *state);
extern void __wrap_tokenize(Tokenizer *tokenizer, Datum value, TokenSink sink, void *state);

void
__wrap_tokenize(Tokenizer *tokenizer, Datum value, TokenSink sink, void *state)
{
	if (stage == STAGE_TOKENS)
		__real_tokenize(tokenizer, value, count_token, NULL);
	else if (stage != STAGE_QUERY)
		__real_tokenize(tokenizer, value, sink, state);
}

extern void __real_documents_add(Documents *documents, uint64 hash, Datum user,
								 const uint32 *words, uint32 n, uint32 positions);
extern void __wrap_documents_add(Documents *documents, uint64 hash, Datum user,
								 const uint32 *words, uint32 n, uint32 positions);

void
__wrap_documents_add(Documents *documents, uint64 hash, Datum user, const uint32 *words,
					 uint32 n, uint32 positions)
{
	if (stage >= STAGE_DOCUMENTS)
		__real_documents_add(documents, hash, user, words, n, positions);
}

extern void __real_documents_group(Documents *documents, Corpus *corpus);
extern void __wrap_documents_group(Documents *documents, Corpus *corpus);

void
__wrap_documents_group(Documents *documents, Corpus *corpus)
{
	if (stage < STAGE_CORPUS)
		return;
	phase_enter("group by user");
	__real_documents_group(documents, corpus);
	phase_leave();
}

extern void __real_read_corpus(const ReadSpec *spec, Vocabulary *vocabulary, Corpus *corpus);
extern void __wrap_read_corpus(const ReadSpec *spec, Vocabulary *vocabulary, Corpus *corpus);

void
__wrap_read_corpus(const ReadSpec *spec, Vocabulary *vocabulary, Corpus *corpus)
{
	tokens = 0;
	phase_enter("read, tokenise, intern, store");
	__real_read_corpus(spec, vocabulary, corpus);
	phase_leave();
}

extern void __real_extract_ngrams(Extraction *extraction, ReleasedGrams *released);
extern void __wrap_extract_ngrams(Extraction *extraction, ReleasedGrams *released);

void
__wrap_extract_ngrams(Extraction *extraction, ReleasedGrams *released)
{
	if (stage != STAGE_ALL)
	{
		extraction->steps_done = 1; /* the ledger's note has a list of steps */
		return;
	}
	phase_enter("prepare, output");
	__real_extract_ngrams(extraction, released);
	phase_leave();
}
