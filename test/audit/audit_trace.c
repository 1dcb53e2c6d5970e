/*
 * audit_trace.c
 *	  One run of the real reader and the real engine over a relation, with the
 *	  inside laid open: exact histograms, |V_k|, and what was released.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "audit.h"
#include "compat.h"
#include "ngram/read.h"

static void
put_row(FunctionCallInfo fcinfo, const char *kind, int level, const char *text, int len,
		int64 weight)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum values[4] = {CStringGetTextDatum(kind), Int32GetDatum(level), (Datum) 0,
					   Int64GetDatum(weight)};
	bool nulls[4] = {false, false, text == NULL, false};

	if (text != NULL)
		values[2] = PointerGetDatum(cstring_to_text_with_len(text, len));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

static void
put_entry(void *state, int level, const char *text, int len, int64 weight)
{
	put_row(state, "histogram", level, text, len, weight);
}

static void
put_level(void *state, const GramSet *set, uint64 candidates, uint64 support, int64 threshold)
{
	put_row(state, "candidates", set->length, NULL, 0, (int64) candidates);
	put_row(state, "support", set->length, NULL, 0, (int64) support);
	put_row(state, "threshold", set->length, NULL, 0, threshold);
}

/* The elements of a bigint[] argument, one a step. */
static int
get_numbers(FunctionCallInfo fcinfo, int argument, int64 *number)
{
	Datum *elements;
	int n;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(argument), INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &elements, NULL, &n);
	if (n > NGRAM_MAX_LENGTH)
		elog(ERROR, "too many steps");
	for (int i = 0; i < n; i++)
		number[i + 1] = DatumGetInt64(elements[i]);
	return n;
}

/* The plan that the arguments from "method" on describe. */
static NgramPlan
get_plan(FunctionCallInfo fcinfo)
{
	NgramPlan plan = {.query = {.method = audit_method(text_to_cstring(PG_GETARG_TEXT_PP(4))),
								.pruning = audit_pruning(text_to_cstring(PG_GETARG_TEXT_PP(5))),
								.max_length = PG_GETARG_INT32(6),
								.spurious = PG_GETARG_FLOAT8(10),
								.noise_ratio = 1}};
	int64 bound[NGRAM_MAX_LENGTH + 1];
	int64 sigma[NGRAM_MAX_LENGTH + 1];
	int64 threshold[NGRAM_MAX_LENGTH + 1];
	NgramMethod method = plan.query.method;

	plan.nsteps = get_numbers(fcinfo, 7, bound);
	if (get_numbers(fcinfo, 8, sigma) != plan.nsteps ||
		get_numbers(fcinfo, 9, threshold) != plan.nsteps)
		elog(ERROR, "bound, sigma and threshold must have one element a step");
	for (int i = 1; i <= plan.nsteps; i++)
		plan.step[i] = (NgramStep){
			i, i, .bound = bound[i], .sigma = sigma[i], .threshold = threshold[i]};
	if (method == METHOD_DPSU_ALL)
		plan.step[1].max_length = plan.query.max_length;
	if (method == METHOD_DPSU_SINGLE)
		plan.step[1].min_length = plan.step[1].max_length = plan.query.max_length;
	return plan;
}

/* Read the relation whose name and columns are the first arguments. */
static void
read_relation(FunctionCallInfo fcinfo, Vocabulary *vocabulary, Corpus *corpus)
{
	Relation relation = relation_open(PG_GETARG_OID(0), AccessShareLock);
	Oid relid = RelationGetRelid(relation);
	AttrNumber text_attnum = get_attnum(relid, NameStr(*PG_GETARG_NAME(2)));
	Oid text_type = get_atttype(relid, text_attnum);
	ReadSpec spec = {
		.relid = relid,
		.owner = GetUserId(),
		.user_attnum = get_attnum(relid, NameStr(*PG_GETARG_NAME(1))),
		.text_attnum = text_attnum,
		.text_type = text_type,
		.tokenizer = tokenizer_create(text_to_cstring(PG_GETARG_TEXT_PP(3)), text_type)};

	read_corpus(&spec, vocabulary, corpus);
	relation_close(relation, NoLock);
}

/*
 * audit_trace(relation regclass, user_col name, text_col name, tokenizer text,
 *			   method text, pruning text, max_length int, bound bigint[],
 *			   sigma bigint[], threshold bigint[], spurious float8,
 *			   memory bigint, seed bigint)
 *
 * bound, sigma and threshold by step, the latter two in lattice units (dpne
 * uses the first threshold only); dpsu-single takes n-grams of max_length words;
 * memory in bytes, for corpus and histogram each; a null seed is real noise.
 *
 * Rows (kind, level, ngram, weight), weights in lattice units:
 *	histogram	an n-gram of the support, its exact weight
 *	candidates, support, threshold	of a level
 *	released	an n-gram and its noisy weight
 *	corpus spilled, records spilled, depth spilled	what went to disk
 */
AUDIT_FUNCTION(audit_trace)
{
	NgramPlan plan = get_plan(fcinfo);
	Size memory = PG_GETARG_INT64(11);
	ExtractTrace trace = {
		.histogram = put_entry, .level = put_level, .state = fcinfo};
	Noise noise;
	ReleasedGrams released = {0};
	Extraction extraction = {
		.plan = &plan,
		.vocabulary = vocabulary_create(SIZE_MAX, AUDIT_WORD_POINTS),
		.corpus = corpus_create(memory, plan.query.pruning == PRUNING_SINGLE),
		.noise = &noise,
		.memory_limit = memory,
		.trace = &trace};

	InitMaterializedSRF(fcinfo, 0);
	audit_log_clear();
	read_relation(fcinfo, extraction.vocabulary, extraction.corpus);
	put_row(fcinfo, "corpus spilled", 0, NULL, 0, corpus_spilled(extraction.corpus));
	noise_init(&noise, !PG_ARGISNULL(12), PG_ARGISNULL(12) ? 0 : PG_GETARG_INT64(12));
	extract_ngrams(&extraction, &released);
	noise_clear(&noise);
	corpus_free(extraction.corpus);
	for (Size i = 0; i < released.n; i++)
		put_row(fcinfo, "released", released.gram[i].length, released.gram[i].text,
				released.gram[i].text_len, lattice_units(released.gram[i].weight.value));
	put_row(fcinfo, "records spilled", 0, NULL, 0, audit_log_spilled());
	put_row(fcinfo, "depth spilled", 0, NULL, 0, audit_log_depth());
	return (Datum) 0;
}
