/*
 * json.c
 *	  Flat JSON objects, built member by member: the parameters of a call or of an owner's
 *	  act, as the log keeps them.
 *
 * A call's parameters are what the caller wrote, and nothing of the data.
 */
#include "postgres.h"

#include "common/shortest_dec.h"
#include "utils/json.h"

#include "ledger/json.h"

void
json_begin(StringInfo json)
{
	initStringInfo(json);
	appendStringInfoChar(json, '{');
}

static void
json_key(StringInfo json, const char *key)
{
	if (json->len > 1)
		appendStringInfoString(json, ", ");
	escape_json(json, key);
	appendStringInfoString(json, ": ");
}

void
json_text(StringInfo json, const char *key, const char *value)
{
	json_key(json, key);
	escape_json(json, value);
}

void
json_number(StringInfo json, const char *key, double value)
{
	json_key(json, key);
	/* the log says the same whatever the caller's extra_float_digits */
	appendStringInfoString(json, double_to_shortest_decimal(value));
}

void
json_bool(StringInfo json, const char *key, bool value)
{
	json_key(json, key);
	appendStringInfoString(json, value ? "true" : "false");
}

/* A value that is JSON already. */
void
json_raw(StringInfo json, const char *key, const char *value)
{
	json_key(json, key);
	appendStringInfoString(json, value);
}

/* Former datasets, if there are any. */
void
json_sources(StringInfo json, const char *key, const List *sources)
{
	ListCell *cell;
	const char *separator = "[";

	if (sources == NIL)
		return;
	json_key(json, key);
	foreach (cell, sources)
	{
		appendStringInfo(json, "%s%d", separator, lfirst_int(cell));
		separator = ", ";
	}
	appendStringInfoChar(json, ']');
}

char *
json_end(StringInfo json)
{
	appendStringInfoChar(json, '}');
	return json->data;
}
