/*
 * notes.c
 *	  The parameters of a call as JSON, for the ledger: what the caller wrote, and
 *	  nothing of the data.
 */
#include "postgres.h"

#include "utils/json.h"

#include "api/notes.h"

static void
note_key(StringInfo json, const char *key)
{
	appendStringInfoString(json, json->len > 0 ? ", " : "{");
	escape_json(json, key);
	appendStringInfoString(json, ": ");
}

void
note_text(StringInfo json, const char *key, const char *value)
{
	note_key(json, key);
	escape_json(json, value);
}

void
note_number(StringInfo json, const char *key, double value)
{
	note_key(json, key);
	appendStringInfo(json, "%.15g", value);
}
