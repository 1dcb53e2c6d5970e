/*
 * read_test.c
 *	  Shows to SQL what the tokenizers and the reader make of values and
 *	  relations, so that regression tests can look at each by itself.
 *
 * What comes in the order of users is written down as the reader hands it out; what
 * comes in any order is grouped into a corpus first and written down from there.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "ngram/corpus_builder.h"
#include "ngram/fingerprint.h"
#include "ngram/read.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(read_test_tokens);
PG_FUNCTION_INFO_V1(read_test_corpus);
PG_FUNCTION_INFO_V1(read_test_grouped);
PG_FUNCTION_INFO_V1(read_test_build);
PG_FUNCTION_INFO_V1(read_test_measure);
PG_FUNCTION_INFO_V1(read_test_vocabulary);

/* Of the words' keys: any will do. */
#define TEST_WORD_POINTS \
	((WordPoints){UINT64CONST(1234567890123456789), UINT64CONST(987654321)})

/* ---- a sink that records ---- */

typedef struct Recorder
{
	ReturnSetInfo *result; /* rows go here, or nowhere if NULL */
	Vocabulary *vocabulary;
	int64 users;
	int64 tokens;
	int place; /* within the user */
	uint64 hash;
	bool open; /* between begin_user and end_user */
} Recorder;

static uint32
record_id(void *state, const char *token, int len)
{
	return vocabulary_intern(((Recorder *) state)->vocabulary, token, len);
}

/* The next position of the user: a word, or a boundary without bytes. */
static void
record(Recorder *recorder, WordText text)
{
	Datum values[4];
	bool nulls[4] = {0};

	if (!recorder->open)
		elog(ERROR, "token outside of a user");
	recorder->place++;
	if (recorder->result == NULL)
		return;
	values[0] = Int32GetDatum((int32) recorder->users);
	values[1] = Int64GetDatum((int64) recorder->hash);
	values[2] = Int32GetDatum(recorder->place);
	values[3] = (Datum) 0;
	nulls[3] = text.bytes == NULL;
	if (text.bytes != NULL)
		values[3] = PointerGetDatum(cstring_to_text_with_len(text.bytes, text.len));
	tuplestore_putvalues(recorder->result->setResult, recorder->result->setDesc, values, nulls);
}

static void
record_user(void *state, uint64 hash)
{
	Recorder *recorder = state;

	if (recorder->open)
		elog(ERROR, "user within a user");
	recorder->open = true;
	recorder->users++;
	recorder->place = 0;
	recorder->hash = hash;
}

static void
record_text(Recorder *recorder, WordText text)
{
	recorder->tokens++;
	record(recorder, text);
}

static void
record_token(void *state, uint32 id)
{
	Recorder *recorder = state;
	WordText text;

	text.bytes = vocabulary_string(recorder->vocabulary, id, &text.len);
	record_text(recorder, text);
}

static void
record_document(void *state)
{
	record(state, (WordText){NULL, 0});
}

static void
record_end(void *state)
{
	Recorder *recorder = state;

	if (!recorder->open)
		elog(ERROR, "end of no user");
	recorder->open = false;
}

/* ---- functions ---- */

static void
append_token(void *state, const char *token, int len)
{
	ArrayBuildState **array = state;
	Datum value = (Datum) 0;

	if (token != NULL)
		value = PointerGetDatum(cstring_to_text_with_len(token, len));
	*array = accumArrayResult(*array, value, token == NULL, TEXTOID, CurrentMemoryContext);
}

/*
 * The sink must outlive contexts that a tokenizer resets, so it builds its
 * array in the context that was current before.
 */
Datum
read_test_tokens(PG_FUNCTION_ARGS)
{
	Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	char *name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Tokenizer *tokenizer = tokenizer_create(name, type);
	ArrayBuildState *array = initArrayResult(TEXTOID, CurrentMemoryContext, false);

	tokenize(tokenizer, PG_GETARG_DATUM(0), append_token, &array);
	PG_RETURN_DATUM(makeArrayResult(array, CurrentMemoryContext));
}

/* The column of time and the bounds, as text of its type or its domain's base type. */
static void
time_arguments(FunctionCallInfo fcinfo, ReadSpec *spec)
{
	Oid type;
	Oid input;
	Oid parameter;

	spec->time_attnum = get_attnum(spec->relid, NameStr(*PG_GETARG_NAME(5)));
	type = getBaseType(get_atttype(spec->relid, spec->time_attnum));
	getTypeInputInfo(type, &input, &parameter);
	spec->time_from = OidInputFunctionCall(input, text_to_cstring(PG_GETARG_TEXT_PP(6)),
										   parameter, -1);
	spec->time_to = OidInputFunctionCall(input, text_to_cstring(PG_GETARG_TEXT_PP(7)),
										 parameter, -1);
}

static void
read_arguments(FunctionCallInfo fcinfo, ReadSpec *spec)
{
	Relation relation = relation_open(PG_GETARG_OID(0), AccessShareLock);

	spec->relid = RelationGetRelid(relation);
	spec->owner = relation->rd_rel->relowner;
	spec->user_attnum = get_attnum(spec->relid, NameStr(*PG_GETARG_NAME(1)));
	spec->text_attnum = get_attnum(spec->relid, NameStr(*PG_GETARG_NAME(2)));
	spec->text_type = get_atttype(spec->relid, spec->text_attnum);
	spec->tokenizer = tokenizer_create(text_to_cstring(PG_GETARG_TEXT_PP(3)), spec->text_type);
	spec->max_tokens = PG_GETARG_INT32(4);
	relation_close(relation, NoLock);
}

static void
read_ordered(const ReadSpec *spec, Recorder *recorder)
{
	ReadSink sink = {
		.state = recorder,
		.token_id = record_id,
		.begin_user = record_user,
		.add_token = record_token,
		.end_document = record_document,
		.end_user = record_end};

	recorder->vocabulary = vocabulary_create(SIZE_MAX, (WordPoints){0});
	read_rows(spec, &sink);
	if (recorder->open)
		elog(ERROR, "the last user was not ended");
}

/* InitMaterializedSRF() in the words of PostgreSQL 14, which lacks it. */
static void
begin_rows(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext old = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);

	if (get_call_result_type(fcinfo, NULL, &result->setDesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	result->returnMode = SFRM_Materialize;
	result->setResult = tuplestore_begin_heap(true, false, work_mem);
	MemoryContextSwitchTo(old);
}

Datum
read_test_corpus(PG_FUNCTION_ARGS)
{
	ReadSpec spec = {0};
	Recorder recorder = {0};

	begin_rows(fcinfo);
	recorder.result = (ReturnSetInfo *) fcinfo->resultinfo;
	read_arguments(fcinfo, &spec);
	read_ordered(&spec, &recorder);
	return (Datum) 0;
}

/* ---- corpora ---- */

/* A corpus with its vocabulary, both within the memory of the arguments. */
typedef struct Built
{
	Vocabulary *vocabulary;
	Corpus *corpus;

	/* the escapes' keys, each once, in ascending order, and their words */
	ItemKey *word;
	uint32 nwords;
	WordText *text;
} Built;

static Built
build(FunctionCallInfo fcinfo)
{
	ReadSpec spec = {0};
	int64 words = PG_GETARG_INT64(7);
	Built built = {.corpus = corpus_create(PG_GETARG_INT64(5), PG_GETARG_BOOL(6))};

	built.vocabulary = vocabulary_create(words < 0 ? SIZE_MAX : (Size) words, TEST_WORD_POINTS);
	read_arguments(fcinfo, &spec);
	read_corpus(&spec, built.vocabulary, built.corpus);
	return built;
}

static ItemKey
escape_item(const uint32 *words)
{
	return (ItemKey){(uint64) words[2] << 32 | words[1], (uint64) words[4] << 32 | words[3]};
}

static int
compare_keys(const void *a, const void *b)
{
	uint64 x = ((const ItemKey *) a)->key;
	uint64 y = ((const ItemKey *) b)->key;

	return x < y ? -1 : x > y;
}

/* Finds the words of all escapes in the corpus. */
static void
spell_escapes(Built *built)
{
	Size capacity = 1024;
	Size n = 0;
	CorpusScan scan;
	CorpusUser user;

	built->word = palloc(capacity * sizeof(ItemKey));
	corpus_scan_begin(&scan, built->corpus, false);
	while (corpus_scan_next(&scan, &user))
		for (uint32 i = 0; i < user.n; i++)
		{
			if (user.id[i] != CORPUS_WIDE)
				continue;
			if (n == capacity)
				built->word = repalloc_huge(built->word, (capacity *= 2) * sizeof(ItemKey));
			built->word[n++] = escape_item(user.id + i);
			i += CORPUS_WIDE_WORDS - 1;
		}
	corpus_scan_end(&scan);
	qsort(built->word, n, sizeof(ItemKey), compare_keys);
	for (Size i = 0; i < n; i++)
		if (i == 0 || built->word[i].key != built->word[i - 1].key)
			built->word[built->nwords++] = built->word[i];
	built->text = palloc((built->nwords + 1) * sizeof(WordText));
	vocabulary_spell(built->vocabulary, built->word, built->nwords, built->text);
}

/* The word of an escape, whose key and content must be those of the word. */
static WordText
escaped_word(const Built *built, const uint32 *words)
{
	ItemKey escaped = escape_item(words);
	ItemKey *found = bsearch(&escaped, built->word, built->nwords, sizeof(ItemKey), compare_keys);
	WordText text = built->text[found - built->word];
	ItemKey item;

	if (text.bytes == NULL)
		elog(ERROR, "an escaped word is not known");
	item = word_key(text.bytes, text.len, TEST_WORD_POINTS);
	if (item.key != escaped.key || item.content != escaped.content)
		elog(ERROR, "an escape is of another word");
	return text;
}

/* One user of a corpus; a boundary follows each document, as in the order of users. */
static void
record_corpus_user(Recorder *recorder, const Built *built, const CorpusUser *user)
{
	if (user->token != NULL && memcmp(user->token, user->id, user->n * sizeof(uint32)) != 0)
		elog(ERROR, "a paired corpus has two different words at a place");
	record_user(recorder, user->hash);
	for (uint32 i = 0; i < user->n; i++)
	{
		if (user->id[i] == 0)
			record_document(recorder);
		else if (user->id[i] != CORPUS_WIDE)
			record_token(recorder, user->id[i]);
		else
		{
			record_text(recorder, escaped_word(built, user->id + i));
			i += CORPUS_WIDE_WORDS - 1;
		}
	}
	record_document(recorder);
	record_end(recorder);
}

Datum
read_test_grouped(PG_FUNCTION_ARGS)
{
	Recorder recorder = {0};
	Built built;
	CorpusScan scan;
	CorpusUser user;

	begin_rows(fcinfo);
	built = build(fcinfo);
	spell_escapes(&built);
	recorder.result = (ReturnSetInfo *) fcinfo->resultinfo;
	recorder.vocabulary = built.vocabulary;
	corpus_scan_begin(&scan, built.corpus, false);
	while (corpus_scan_next(&scan, &user))
		record_corpus_user(&recorder, &built, &user);
	corpus_scan_end(&scan);
	corpus_free(built.corpus);
	vocabulary_free(built.vocabulary);
	return (Datum) 0;
}

/* What a corpus and its vocabulary have, and whether each went to files. */
Datum
read_test_build(PG_FUNCTION_ARGS)
{
	Built built = build(fcinfo);
	int64 users = 0;
	int64 elements = 0;
	Datum values[5];
	bool nulls[5] = {0};
	TupleDesc descriptor;
	CorpusScan scan;
	CorpusUser user;

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[3] = BoolGetDatum(corpus_spilled(built.corpus));
	values[4] = BoolGetDatum(!vocabulary_complete(built.vocabulary));
	corpus_scan_begin(&scan, built.corpus, false);
	while (corpus_scan_next(&scan, &user))
	{
		users++;
		elements += user.n;
	}
	corpus_scan_end(&scan);
	values[0] = Int64GetDatum(users);
	values[1] = Int64GetDatum(elements);
	values[2] = Int64GetDatum(vocabulary_size(built.vocabulary));
	corpus_free(built.corpus);
	vocabulary_free(built.vocabulary);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls)));
}

/* ---- more functions ---- */

Datum
read_test_measure(PG_FUNCTION_ARGS)
{
	ReadSpec spec = {0};
	Recorder recorder = {0};
	Datum values[3];
	bool nulls[3] = {0};
	TupleDesc descriptor;

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	read_arguments(fcinfo, &spec);
	if (PG_NARGS() > 5)
		time_arguments(fcinfo, &spec);
	read_ordered(&spec, &recorder);
	values[0] = Int64GetDatum(recorder.users);
	values[1] = Int64GetDatum(recorder.tokens);
	values[2] = Int64GetDatum(vocabulary_size(recorder.vocabulary));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls)));
}

Datum
read_test_vocabulary(PG_FUNCTION_ARGS)
{
	int n = PG_GETARG_INT32(0);
	Vocabulary *vocabulary = vocabulary_create(SIZE_MAX, (WordPoints){0});
	char number[32];

	for (int round = 0; round < PG_GETARG_INT32(1); round++)
	{
		for (int i = 0; i < n; i++)
		{
			int len = snprintf(number, sizeof(number), "%0*d", i % 20, i);
			uint32 id = vocabulary_intern(vocabulary, number, len);
			const char *string;
			int kept;

			CHECK_FOR_INTERRUPTS();
			if (id != (uint32) i + 1)
				elog(ERROR, "token %d has id %u", i, id);
			string = vocabulary_string(vocabulary, id, &kept);
			if (kept != len || memcmp(string, number, len) != 0)
				elog(ERROR, "token %d is kept as %.*s", i, kept, string);
			if (vocabulary_hash(vocabulary, id) !=
				hash_bytes_extended((unsigned char *) number, len, 0))
				elog(ERROR, "token %d has another hash", i);
		}
	}
	if (vocabulary_size(vocabulary) != (uint32) n)
		elog(ERROR, "vocabulary holds %u tokens", vocabulary_size(vocabulary));
	PG_RETURN_VOID();
}
