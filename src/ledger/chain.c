/*
 * chain.c
 *	  The hash chain over a dataset's releases.
 *
 * The log's triggers refuse every change, but a superuser can disable a trigger.
 * So each release's digest covers its row and the digest before it, and the
 * dataset keeps the last one and their number: who changes, removes or adds a row
 * must rewrite all that follow and the dataset.  A superuser can do that as well;
 * one who wrote a digest down elsewhere (dpngram.budget shows it) finds out.
 */
#include "postgres.h"

#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"

/* The settings on which a row's text depends. */
static int
fix_text_settings(void)
{
	static const char *const settings[][2] = {
		{"datestyle", "ISO, YMD"},
		{"timezone", "UTC"},
		{"extra_float_digits", "1"},
		{"bytea_output", "hex"}};
	int nestlevel = NewGUCNestLevel();

	for (int i = 0; i < (int) lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	return nestlevel;
}

/*
 * For a dump may be restored into a database of another encoding.  From these two
 * nothing can be converted; their bytes are taken as they are.
 */
static char *
in_utf8(char *text)
{
	int encoding = GetDatabaseEncoding();

	if (encoding == PG_SQL_ASCII || encoding == PG_MULE_INTERNAL)
		return text;
	return pg_server_to_any(text, strlen(text), PG_UTF8);
}

PG_FUNCTION_INFO_V1(dpngram_row_digest);

/*
 * row_digest(previous bytea, entry record): SHA-256 of the previous digest and
 * the row's text in UTF-8.
 */
Datum
dpngram_row_digest(PG_FUNCTION_ARGS)
{
	bytea *previous = PG_GETARG_BYTEA_PP(0);
	int nestlevel = fix_text_settings();
	FmgrInfo output;
	char *text;
	bytea *message;
	Size previous_len = VARSIZE_ANY_EXHDR(previous);
	Size len;

	fmgr_info(F_RECORD_OUT, &output);
	text = OutputFunctionCall(&output, PG_GETARG_DATUM(1));
	AtEOXact_GUC(false, nestlevel);
	text = in_utf8(text);

	len = previous_len + strlen(text);
	message = palloc(VARHDRSZ + len);
	SET_VARSIZE(message, VARHDRSZ + len);
	memcpy(VARDATA(message), VARDATA_ANY(previous), previous_len);
	memcpy(VARDATA(message) + previous_len, text, len - previous_len);
	return DirectFunctionCall1(sha256_bytea, PointerGetDatum(message));
}
