/*
 * score.c
 *	  The SQL function ngram_score(): how likely held-out texts are under a
 *	  distribution over n-grams, sentence by sentence (Ramadan et al. 2021, section
 *	  4.6).
 *
 * Only sentences count all of whose n-grams are in the distribution's vocabulary, so
 * that no way of backing off decides the comparison.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "ngram/plan.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "api/checks.h"
#include "common/dp_sum.h"
#include "compat.h"
#include "dist/grams.h"
#include "dist/model.h"
#include "dist/query.h"
#include "dpngram_errcodes.h"

PG_FUNCTION_INFO_V1(dpngram_ngram_score);

typedef struct Scoring
{
	Oid dist;
	NgramModel *model;
	GramCutter *cutter;
	int64 sentence; /* rows so far */
	ReturnSetInfo *result;
} Scoring;

static void
refuse_distribution(const Scoring *scoring, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT),
			 errmsg("relation \"%s\" is not a distribution over n-grams of that length",
					get_rel_name(scoring->dist)),
			 errdetail("%s", detail)));
}

/* A row of the distribution. */
static void
take_ngram(void *state, TupleTableSlot *row)
{
	Scoring *scoring = state;
	bool no_ngram;
	bool no_probability;
	Datum ngram = slot_getattr(row, 1, &no_ngram);
	Datum probability = slot_getattr(row, 2, &no_probability);
	text *bytes;

	if (no_ngram || no_probability)
		refuse_distribution(scoring, "An n-gram or a probability is null.");
	bytes = DatumGetTextPP(ngram);
	switch (model_add(scoring->model, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes),
					  DatumGetFloat8(probability)))
	{
		case MODEL_OK:
			break;
		case MODEL_PROBABILITY:
			refuse_distribution(scoring, "A probability is negative or not finite.");
			break;
		case MODEL_LENGTH:
			refuse_distribution(scoring, "An n-gram does not have n tokens.");
			break;
		case MODEL_DUPLICATE:
			refuse_distribution(scoring, "An n-gram occurs twice.");
			break;
	}
}

/* Sums up the n-grams that the cutter has found; false if one of them is unknown. */
static bool
score_grams(const Scoring *scoring, double *log_probability)
{
	const GramCutter *cutter = scoring->cutter;
	DpSum sum = {0};

	for (Size i = 0; i < cutter->ngrams; i++)
	{
		const Gram *gram = &cutter->gram[i];
		const char *text = cutter->text.data + gram->start;
		double one;

		if (!model_log_probability(scoring->model, text, gram->len, &one))
			return false;
		dp_sum_add(&sum, one);
	}
	*log_probability = dp_sum_value(&sum);
	return true;
}

/* A row of the texts. */
static void
take_sentence(void *state, TupleTableSlot *row)
{
	Scoring *scoring = state;
	Datum values[3];
	bool nulls[3] = {false};
	double log_probability = 0;
	bool no_text;
	Datum value = slot_getattr(row, 1, &no_text);

	scoring->sentence++;
	if (no_text)
		return;
	gram_cut(scoring->cutter, value);
	if (scoring->cutter->ngrams == 0)
		return;
	nulls[2] = !score_grams(scoring, &log_probability);
	values[0] = Int64GetDatum(scoring->sentence);
	values[1] = Int32GetDatum(nulls[2] ? 0 : (int32) scoring->cutter->ngrams);
	values[2] = Float8GetDatum(log_probability);
	tuplestore_putvalues(scoring->result->setResult, scoring->result->setDesc, values, nulls);
}

static void
read_distribution(Scoring *scoring)
{
	const char *relation = query_relation(scoring->dist);
	const QueryParameters none = {0};

	query_each(psprintf("SELECT %s, %s FROM %s d", query_text_column(scoring->dist, "d", "ngram"),
						query_number_column(scoring->dist, "d", "probability"), relation),
			   &none, take_ngram, scoring);
	model_finish(scoring->model);
}

static Tokenizer *
text_tokenizer(Oid relid, const char *text_col, const char *name)
{
	return tokenizer_create(name, query_column_type(relid, text_col));
}

/*
 * ngram_score(dist, relation, text_col, n, tokenizer): the log-probability of each
 * text of a relation that has an n-gram, NULL where not all of them are known.
 */
Datum
dpngram_ngram_score(PG_FUNCTION_ARGS)
{
	Scoring scoring = {0};
	const QueryParameters none = {0};
	Oid relid;
	const char *text_col;
	const char *relation;
	int n;
	char *tokenizer;

	InitMaterializedSRF(fcinfo, 0);
	scoring.dist = DatumGetObjectId(required(fcinfo, 0, "dist"));
	relid = DatumGetObjectId(required(fcinfo, 1, "relation"));
	text_col = NameStr(*DatumGetName(required(fcinfo, 2, "text_col")));
	n = int_range(fcinfo, 3, "n", 1, NGRAM_MAX_LENGTH);
	tokenizer = text_argument(fcinfo, 4, "tokenizer");

	scoring.result = (ReturnSetInfo *) fcinfo->resultinfo;
	(void) query_relation(relid);
	scoring.model = model_create(n, tokenizer_escapes(text_tokenizer(relid, text_col, tokenizer)));
	read_distribution(&scoring);
	/* once more: if it is a view, its functions may have changed the relation */
	relation = query_relation(relid);
	scoring.cutter = gram_cutter_create(text_tokenizer(relid, text_col, tokenizer), n, 0);
	query_each(psprintf("SELECT %s FROM %s r", query_column(relid, "r", text_col), relation), &none,
			   take_sentence, &scoring);
	return (Datum) 0;
}
