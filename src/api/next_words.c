/*
 * next_words.c
 *	  The SQL function dp_next_words(), what a keyboard or a search box would call,
 *	  and the index that makes it fast.
 *
 * The words that follow a text are the last words of those n-grams whose other words
 * are the text's last.  An index on ngram_prefix(ngram) finds them; the query is the
 * same without one.  It is compared by bytes (collation "C"): that is what equal means
 * for n-grams, and such an index no new version of a collation can break.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "ngram/plan.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "api/checks.h"
#include "compat.h"
#include "dist/grams.h"
#include "dist/query.h"
#include "dpngram_errcodes.h"

PG_FUNCTION_INFO_V1(dpngram_ngram_prefix);
PG_FUNCTION_INFO_V1(dpngram_ngram_last);
PG_FUNCTION_INFO_V1(dpngram_next_words);
PG_FUNCTION_INFO_V1(dpngram_index_next_words);

/* ---- the parts of an n-gram ---- */

/* ngram_prefix(ngram): all its tokens but the last. */
Datum
dpngram_ngram_prefix(PG_FUNCTION_ARGS)
{
	text *ngram = PG_GETARG_TEXT_PP(0);
	int last;

	(void) gram_tokens(VARDATA_ANY(ngram), VARSIZE_ANY_EXHDR(ngram), true, &last);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(VARDATA_ANY(ngram), Max(last - 1, 0)));
}

/* ngram_last(ngram): its last token. */
Datum
dpngram_ngram_last(PG_FUNCTION_ARGS)
{
	text *ngram = PG_GETARG_TEXT_PP(0);
	int last;

	(void) gram_tokens(VARDATA_ANY(ngram), VARSIZE_ANY_EXHDR(ngram), true, &last);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(VARDATA_ANY(ngram) + last,
											  VARSIZE_ANY_EXHDR(ngram) - last));
}

/* ---- the query ---- */

/* The column that says how likely an n-gram is, as the query names it. */
static const char *
value_column(Oid relid, const char *alias)
{
	const char *name = get_attnum(relid, "probability") > 0 ? "probability" : "weight";

	if (get_attnum(relid, name) <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_DP_COLUMN),
				 errmsg("relation \"%s\" has neither a column \"probability\" nor \"weight\"",
						get_rel_name(relid)),
				 errhint("It must be a list of n-grams with columns ngram and probability, or "
						 "ngram and weight.")));
	return query_number_column(relid, alias, name);
}

/*
 * The functions beside this one, quoted.  Whoever may create functions there could make
 * one of the same name for varchar: so their argument is cast to the type that they have.
 */
static const char *
sibling(FunctionCallInfo fcinfo, const char *name)
{
	Oid schema = get_func_namespace(fcinfo->flinfo->fn_oid);

	return quote_qualified_identifier(get_namespace_name(schema), name);
}

/*
 * The last token of w.ngram.  What follows an array is to be its next element, which
 * has no escapes; a text's tokens come as they stand.
 */
static const char *
next_word(FunctionCallInfo fcinfo)
{
	const char *last = psprintf("%s(w.ngram::pg_catalog.text)", sibling(fcinfo, "ngram_last"));

	if (type_is_array_domain(get_fn_expr_argtype(fcinfo->flinfo, 1)))
		return psprintf("pg_catalog.regexp_replace(%s, E'\\\\\\\\(.)', E'\\\\1', 'g')", last);
	return last;
}

/*
 * The condition on the list's rows, under "alias", that they continue the words that an
 * expression gives.  A noisy weight of 0 or less, and what is no number, continues none.
 */
static const char *
continues(FunctionCallInfo fcinfo, Oid relid, const char *alias, const char *words)
{
	const char *ngram = query_text_column(relid, alias, "ngram");
	const char *value = value_column(relid, alias);

	return psprintf("(%s(%s::pg_catalog.text) COLLATE pg_catalog.\"C\") OPERATOR(pg_catalog.=) %s "
					"AND %s OPERATOR(pg_catalog.>) 0 "
					"AND %s OPERATOR(pg_catalog.<) 'Infinity'::pg_catalog.float8",
					sibling(fcinfo, "ngram_prefix"), ngram, words,
					value, value);
}

/*
 * $1: the last words of the text, from all that are looked at to none; $2: how many
 * words are wanted.  The longest of $1 that anything follows is chosen by a query of
 * its own within, which an index answers by looking each of them up once.
 */
static const char *
next_words_query(FunctionCallInfo fcinfo, Oid relid)
{
	const char *relation = query_relation(relid);
	const char *longest =
		psprintf("(SELECT s.suffix FROM pg_catalog.unnest($1) WITH ORDINALITY s (suffix, place) "
				 "WHERE EXISTS (SELECT FROM %s b WHERE %s) ORDER BY s.place LIMIT 1)",
				 relation, continues(fcinfo, relid, "b", "s.suffix"));

	return psprintf("SELECT %s, w.value OPERATOR(pg_catalog./) w.total FROM ("
					"SELECT r.ngram, r.value, pg_catalog.sum(r.value) OVER () AS total FROM ("
					"SELECT %s AS ngram, %s AS value FROM %s a WHERE %s) r) w "
					"ORDER BY w.value DESC, w.ngram COLLATE pg_catalog.\"C\" LIMIT $2",
					next_word(fcinfo), query_text_column(relid, "a", "ngram"),
					value_column(relid, "a"), relation, continues(fcinfo, relid, "a", longest));
}

/* The text's last words, from the most that an n-gram can have before its last to none. */
static Datum
suffixes(GramCutter *cutter, Datum prefix)
{
	ArrayBuildState *state = NULL;
	Size n;

	gram_cut(cutter, prefix);
	n = Min(cutter->run, NGRAM_MAX_LENGTH - 1);
	for (Size i = cutter->ntokens - n; i <= cutter->ntokens; i++)
	{
		const char *start = cutter->text.data;
		int len = 0;
		text *words;

		if (i < cutter->ntokens)
		{
			start += cutter->token[i];
			len = cutter->text.len - 1 - cutter->token[i]; /* without the blank at the end */
		}
		words = cstring_to_text_with_len(start, len);
		state = accumArrayResult(state, PointerGetDatum(words), false, TEXTOID,
								 CurrentMemoryContext);
	}
	return makeArrayResult(state, CurrentMemoryContext);
}

/*
 * dp_next_words(dist, prefix, k, tokenizer): the k words that are most likely after a
 * text; dp_next_words(dist, tokens, k) the same after an array of tokens.
 */
Datum
dpngram_next_words(PG_FUNCTION_ARGS)
{
	Oid relid;
	Datum prefix;
	Tokenizer *tokenizer;
	GramCutter *cutter;
	QueryParameters parameters = {0};

	InitMaterializedSRF(fcinfo, 0);
	relid = DatumGetObjectId(required(fcinfo, 0, "dist"));
	prefix = required(fcinfo, 1, "prefix");
	tokenizer = tokenizer_create(PG_NARGS() > 3 ? text_argument(fcinfo, 3, "tokenizer") :
												  "whitespace",
								 get_fn_expr_argtype(fcinfo->flinfo, 1));
	cutter = gram_cutter_create(tokenizer, 1, 0);
	query_parameter(&parameters, TEXTARRAYOID, suffixes(cutter, prefix));
	query_parameter(&parameters, INT8OID,
					Int64GetDatum(int_range(fcinfo, 2, "k", 1, PG_INT32_MAX)));
	query_result_kept(next_words_query(fcinfo, relid), &parameters, fcinfo);
	return (Datum) 0;
}

/* ---- the index ---- */

/*
 * dp_index_next_words(dist): creates the index that dp_next_words() is fast with; with
 * the caller's rights, so that only the relation's owner may.
 *
 * A hash index: it takes n-grams of any length where a B-tree has a largest, and was the
 * smaller and the faster of the two on 62,000 trigrams (33 against 43 microseconds a
 * call), though a B-tree could have answered without the table.
 */
Datum
dpngram_index_next_words(PG_FUNCTION_ARGS)
{
	Oid relid = DatumGetObjectId(required(fcinfo, 0, "dist"));
	const char *relation = query_relation(relid);
	char *name = makeObjectName(get_rel_name(relid), "next_words", "idx");
	char *sql;

	(void) query_text_column(relid, "r", "ngram");
	sql = psprintf("CREATE INDEX %s ON %s USING hash "
				   "((%s(%s::pg_catalog.text) COLLATE pg_catalog.\"C\") pg_catalog.text_ops)",
				   quote_identifier(name), relation, sibling(fcinfo, "ngram_prefix"),
				   quote_identifier("ngram"));
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(sql, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "CREATE INDEX failed");
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	PG_RETURN_VOID();
}
