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
#include "ngram/read.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(read_test_tokens);
PG_FUNCTION_INFO_V1(read_test_corpus);
PG_FUNCTION_INFO_V1(read_test_grouped);
PG_FUNCTION_INFO_V1(read_test_measure);
PG_FUNCTION_INFO_V1(read_test_vocabulary);

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

static void
record(Recorder *recorder, uint32 id)
{
	Datum values[4];
	bool nulls[4] = {0};
	const char *string;
	int len;

	if (!recorder->open)
		elog(ERROR, "token outside of a user");
	recorder->place++;
	if (recorder->result == NULL)
		return;
	values[0] = Int32GetDatum((int32) recorder->users);
	values[1] = Int64GetDatum((int64) recorder->hash);
	values[2] = Int32GetDatum(recorder->place);
	values[3] = (Datum) 0;
	nulls[3] = id == 0;
	if (id != 0)
	{
		string = vocabulary_string(recorder->vocabulary, id, &len);
		values[3] = PointerGetDatum(cstring_to_text_with_len(string, len));
	}
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
record_token(void *state, uint32 id)
{
	((Recorder *) state)->tokens++;
	record(state, id);
}

static void
record_document(void *state)
{
	record(state, 0);
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

	recorder->vocabulary = vocabulary_create();
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

/* One user of a corpus; a boundary follows each document, as in the order of users. */
static void
record_corpus_user(Recorder *recorder, const CorpusUser *user)
{
	record_user(recorder, user->hash);
	for (uint32 i = 0; i < user->n; i++)
	{
		if (user->token != NULL && user->token[i] != user->id[i])
			elog(ERROR, "a paired corpus has two different words at a place");
		if (user->id[i] != 0)
			record_token(recorder, user->id[i]);
		else
			record_document(recorder);
	}
	record_document(recorder);
	record_end(recorder);
}

Datum
read_test_grouped(PG_FUNCTION_ARGS)
{
	ReadSpec spec = {0};
	Recorder recorder = {0};
	Corpus *corpus = corpus_create(PG_GETARG_INT64(5), PG_GETARG_BOOL(6));
	CorpusScan scan;
	CorpusUser user;

	begin_rows(fcinfo);
	recorder.result = (ReturnSetInfo *) fcinfo->resultinfo;
	recorder.vocabulary = vocabulary_create();
	read_arguments(fcinfo, &spec);
	read_corpus(&spec, recorder.vocabulary, corpus);
	corpus_scan_begin(&scan, corpus, false);
	while (corpus_scan_next(&scan, &user))
		record_corpus_user(&recorder, &user);
	corpus_scan_end(&scan);
	corpus_free(corpus);
	return (Datum) 0;
}

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
	Vocabulary *vocabulary = vocabulary_create();
	char number[16];

	for (int round = 0; round < PG_GETARG_INT32(1); round++)
	{
		for (int i = 0; i < n; i++)
		{
			int len = pg_ltoa(i, number);
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
