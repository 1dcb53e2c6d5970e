/*
 * options.c
 *	  Reads the argument "options" of a function: one JSON object whose keys are all
 *	  known.
 *
 * A misspelt option must not be taken for a granted wish, so an unknown key is an
 * error, and so is a value of another type; null is none either.
 */
#include "postgres.h"

#include "dpngram_errcodes.h"
#include "ledger/options.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* "The option is a." or "Options are a, b and c." */
static char *
options_hint(const Option *known, int nknown)
{
	StringInfoData hint;

	if (nknown == 0)
		return pstrdup("This function has no options.");
	initStringInfo(&hint);
	appendStringInfoString(&hint, nknown == 1 ? "The option is " : "Options are ");
	for (int i = 0; i < nknown; i++)
	{
		if (i > 0)
			appendStringInfoString(&hint, i == nknown - 1 ? " and " : ", ");
		appendStringInfoString(&hint, known[i].name);
	}
	appendStringInfoChar(&hint, '.');
	return hint.data;
}

static const Option *
find_option(const JsonbValue *key, const Option *known, int nknown)
{
	char *name = pnstrdup(key->val.string.val, key->val.string.len);

	for (int i = 0; i < nknown; i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT),
			 errmsg("unknown option \"%s\"", name),
			 errhint("%s", options_hint(known, nknown))));
	return NULL; /* not reached */
}

static double
number_of(const JsonbValue *value)
{
	/* what is too large is infinite, and out of any option's domain */
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
											  NumericGetDatum(value->val.numeric)));
}

static char *
text_of(const JsonbValue *value)
{
	return pnstrdup(value->val.string.val, value->val.string.len);
}

/* Takes the value if it is of the option's kind. */
static bool
take_value(const Option *option, const JsonbValue *value)
{
	OptionEither *either;

	switch (option->kind)
	{
		case OPTION_BOOL:
			if (value->type != jbvBool)
				return false;
			*(bool *) option->value = value->val.boolean;
			return true;
		case OPTION_NUMBER:
			if (value->type != jbvNumeric)
				return false;
			*(double *) option->value = number_of(value);
			return true;
		case OPTION_TEXT:
			if (value->type != jbvString)
				return false;
			*(char **) option->value = text_of(value);
			return true;
		case OPTION_EITHER:
			if (value->type != jbvString && value->type != jbvNumeric)
				return false;
			either = option->value;
			either->text = value->type == jbvString ? text_of(value) : NULL;
			either->number = value->type == jbvNumeric ? number_of(value) : 0;
			return true;
	}
	return false;
}

/* Reads the options into the places that "known" names; errors: NG005. */
void
options_read(Jsonb *options, const Option *known, int nknown)
{
	static const char *const kinds[] = {
		[OPTION_BOOL] = "true or false",
		[OPTION_NUMBER] = "a number",
		[OPTION_TEXT] = "a string",
		[OPTION_EITHER] = "a string or a number",
	};
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue value;

	if (!JB_ROOT_IS_OBJECT(options))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("options must be a JSON object")));
	iterator = JsonbIteratorInit(&options->root);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		const Option *option;

		if (token != WJB_KEY)
			continue;
		option = find_option(&value, known, nknown);
		(void) JsonbIteratorNext(&iterator, &value, true);
		if (!take_value(option, &value))
			ereport(ERROR,
					(errcode(ERRCODE_DP_ARGUMENT),
					 errmsg("option \"%s\" must be %s", option->name, kinds[option->kind])));
	}
}
