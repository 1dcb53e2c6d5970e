/*
 * plain_counts.c
 *	  The SQL functions dp_public_ngrams() and kanon_ngrams(): counts of n-grams
 *	  without noise.
 *
 * The one counts what is public, and refuses what a privacy budget protects; the
 * other is what private releases are compared with, for the owner of the relation
 * alone.  Both are queries over dpngram.ngrams_of(), so that PostgreSQL's own hash
 * aggregation keeps to work_mem, spills and runs in parallel.
 *
 * n-grams are grouped by their bytes (collation "C"), whatever the column's collation
 * holds for equal, as everywhere in this extension.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "ngram/plan.h"
#include "utils/builtins.h"

#include "api/checks.h"
#include "api/target.h"
#include "compat.h"
#include "dist/query.h"
#include "ledger/ledger.h"

PG_FUNCTION_INFO_V1(dpngram_public_ngrams);
PG_FUNCTION_INFO_V1(dpngram_kanon_ngrams);

static int64
positive_bigint(FunctionCallInfo fcinfo, int n, const char *name)
{
	int64 value = DatumGetInt64(required(fcinfo, n, name));

	if (value < 1)
		bad_argument(name, "at least 1");
	return value;
}

/* Which texts: arguments 0, and those of the given numbers.  user_col may be NULL. */
static TextTarget
text_target(FunctionCallInfo fcinfo, int text_col, int user_col, int tokenizer)
{
	TextTarget target = {0};

	target.relid = DatumGetObjectId(required(fcinfo, 0, "relation"));
	target.text_col = NameStr(*DatumGetName(required(fcinfo, text_col, "text_col")));
	if (!PG_ARGISNULL(user_col))
		target.user_col = NameStr(*PG_GETARG_NAME(user_col));
	target.tokenizer = text_argument(fcinfo, tokenizer, "tokenizer");
	if (!PG_ARGISNULL(tokenizer + 1))
		target.max_tokens = int_range(fcinfo, tokenizer + 1, "max_tokens", 1, PG_INT32_MAX);
	return target;
}

/* The parameters $2 and $3 of both queries. */
static void
tokenizer_parameters(QueryParameters *parameters, const TextTarget *target)
{
	query_text_parameter(parameters, target->tokenizer);
	query_parameter(parameters, INT4OID, Int32GetDatum(target->max_tokens));
}

/*
 * Counts n-grams of length $1 that occur $4 times at least; with a column of users,
 * each of them once for an n-gram.  "IS DISTINCT FROM NULL", because IS NOT NULL is
 * false for a row value with one NULL field.
 */
static char *
public_query(const TextTarget *target)
{
	const char *relation = query_relation(target->relid);
	const char *text = query_column(target->relid, "r", target->text_col);
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT g.ngram, pg_catalog.count(*) FROM (SELECT ");
	if (target->user_col != NULL)
		appendStringInfo(&sql, "DISTINCT %s AS person, ",
						 query_column(target->relid, "r", target->user_col));
	appendStringInfo(&sql,
					 "dpngram.ngrams_of(%s, $1, $2, $3) COLLATE pg_catalog.\"C\" AS ngram "
					 "FROM %s r",
					 text, relation);
	if (target->user_col != NULL)
		appendStringInfo(&sql, " WHERE %s IS DISTINCT FROM NULL",
						 query_column(target->relid, "r", target->user_col));
	appendStringInfoString(&sql, ") g GROUP BY g.ngram"
								 " HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>=) $4"
								 " ORDER BY g.ngram");
	return sql.data;
}

/*
 * dp_public_ngrams(relation, text_col, n, min_count, user_col, tokenizer, max_tokens):
 * the n-grams of a public relation, and how often each occurs there.
 */
Datum
dpngram_public_ngrams(PG_FUNCTION_ARGS)
{
	TextTarget target;
	QueryParameters parameters = {0};
	int n;
	int64 min_count;

	InitMaterializedSRF(fcinfo, 0);
	target = text_target(fcinfo, 1, 4, 5);
	n = int_range(fcinfo, 2, "n", 1, NGRAM_MAX_LENGTH);
	min_count = positive_bigint(fcinfo, 3, "min_count");
	(void) query_relation(target.relid);
	ledger_refuse_protected(target.relid);
	/* a bad tokenizer or a column without tokens is an error also where there are no rows */
	(void) tokenizer_create(target.tokenizer, query_column_type(target.relid, target.text_col));

	query_parameter(&parameters, INT4OID, Int32GetDatum(n));
	tokenizer_parameters(&parameters, &target);
	query_parameter(&parameters, INT8OID, Int64GetDatum(min_count));
	query_result(public_query(&target), &parameters, fcinfo);
	return (Datum) 0;
}

/* Counts the users of n-grams of lengths 1 to $1, where they are $4 at least. */
static char *
kanon_query(const TextTarget *target)
{
	const char *user = query_column(target->relid, "r", target->user_col);

	return psprintf("SELECT g.n, g.ngram, pg_catalog.count(*) FROM (SELECT DISTINCT %s AS person, "
					"l.n, dpngram.ngrams_of(%s, l.n, $2, $3) COLLATE pg_catalog.\"C\" AS ngram "
					"FROM %s r CROSS JOIN pg_catalog.generate_series(1, $1) l (n) "
					"WHERE %s IS DISTINCT FROM NULL) g GROUP BY g.n, g.ngram "
					"HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>=) $4 ORDER BY g.n, g.ngram",
					user, query_column(target->relid, "r", target->text_col),
					query_relation(target->relid), user);
}

/*
 * kanon_ngrams(relation, user_col, text_col, k, max_length, tokenizer, max_tokens):
 * n-grams that k users at least wrote.  Not private: for the owner, with a WARNING.
 */
Datum
dpngram_kanon_ngrams(PG_FUNCTION_ARGS)
{
	TextTarget target;
	QueryParameters parameters = {0};
	int max_length;
	int64 k;

	InitMaterializedSRF(fcinfo, 0);
	(void) required(fcinfo, 1, "user_col");
	target = text_target(fcinfo, 2, 1, 5);
	k = positive_bigint(fcinfo, 3, "k");
	max_length = int_range(fcinfo, 4, "max_length", 1, NGRAM_MAX_LENGTH);
	(void) target_owner_spec(&target, "kanon_ngrams", false);
	ereport(WARNING,
			(errmsg("the result of kanon_ngrams is not differentially private")));

	query_parameter(&parameters, INT4OID, Int32GetDatum(max_length));
	tokenizer_parameters(&parameters, &target);
	query_parameter(&parameters, INT8OID, Int64GetDatum(k));
	query_result(kanon_query(&target), &parameters, fcinfo);
	return (Datum) 0;
}
