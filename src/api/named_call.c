/*
 * named_call.c
 *	  The arguments of a call to one of the extension's functions, from a JSON
 *	  object: what it doesn't name has the default that the function was declared
 *	  with.
 *
 * So that dp_price knows the arguments of every mechanism without a list of its
 * own: names, types and defaults are those of pg_proc, and the values go through
 * the same checks as a real call's (arguments.c).  Keys that are no arguments
 * become keys of the function's argument "options", which knows what it takes.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "funcapi.h"
#include "nodes/primnodes.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "api/named_call.h"

/* The declared input arguments of a function. */
typedef struct Signature
{
	int n;
	Oid type[FUNC_MAX_ARGS];
	char *name[FUNC_MAX_ARGS];
	List *defaults; /* of the last of them */
} Signature;

/*
 * The function of that name which the same extension put into the same schema;
 * InvalidOid if there is none.  Functions of others are none of ours, whatever
 * they are called: their defaults would be evaluated.
 */
Oid
find_sibling(Oid function, const char *name)
{
	Oid extension = getExtensionOfObject(ProcedureRelationId, function);
	Oid schema = get_func_namespace(function);
	Oid found = InvalidOid;
	CatCList *candidates = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));

	for (int i = 0; i < candidates->n_members; i++)
	{
		Form_pg_proc form = (Form_pg_proc) GETSTRUCT(&candidates->members[i]->tuple);

		if (form->pronamespace == schema && OidIsValid(extension) &&
			getExtensionOfObject(ProcedureRelationId, form->oid) == extension)
			found = form->oid;
	}
	ReleaseCatCacheList(candidates);
	return found;
}

static List *
declared_defaults(HeapTuple tuple)
{
	bool isnull;
	Datum nodes = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proargdefaults, &isnull);

	return isnull ? NIL : castNode(List, stringToNode(TextDatumGetCString(nodes)));
}

static Signature
read_signature(Oid function)
{
	Signature signature = {0};
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid *types;
	char **names;
	char *modes;
	int n;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	n = get_func_arg_info(tuple, &types, &names, &modes);
	for (int i = 0; i < n; i++)
	{
		if (modes != NULL && modes[i] != PROARGMODE_IN)
			continue;
		signature.type[signature.n] = types[i];
		signature.name[signature.n++] = names[i];
	}
	signature.defaults = declared_defaults(tuple);
	ReleaseSysCache(tuple);
	return signature;
}

static int
find_argument(const Signature *signature, const char *name)
{
	for (int i = 0; i < signature->n; i++)
		if (strcmp(signature->name[i], name) == 0)
			return i;
	return -1;
}

/* A value that says nothing, for an argument without a default. */
static Datum
empty_value(Oid type)
{
	int16 length;
	bool byvalue;

	get_typlenbyval(type, &length, &byvalue);
	if (byvalue)
		return (Datum) 0;
	return length > 0 ? PointerGetDatum(palloc0(length)) : CStringGetTextDatum("");
}

static void
fill_defaults(FunctionCallInfo call, const Signature *signature)
{
	int first = signature->n - list_length(signature->defaults);

	for (int i = 0; i < signature->n; i++)
	{
		Node *value;

		call->args[i].isnull = false;
		if (i < first)
		{
			call->args[i].value = empty_value(signature->type[i]);
			continue;
		}
		value = eval_const_expressions(NULL, list_nth(signature->defaults, i - first));
		if (!IsA(value, Const))
			elog(ERROR, "the default of argument \"%s\" is no constant", signature->name[i]);
		call->args[i].value = ((Const *) value)->constvalue;
		call->args[i].isnull = ((Const *) value)->constisnull;
	}
}

static void
bad_value(const char *key)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT),
			 errmsg("option \"%s\" has no value that its argument could take", key)));
}

/* A JSON string, number or boolean as text. */
static char *
scalar_text(const char *key, const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvString:
			return pnstrdup(value->val.string.val, value->val.string.len);
		case jbvNumeric:
			return DatumGetCString(DirectFunctionCall1(numeric_out,
													   NumericGetDatum(value->val.numeric)));
		case jbvBool:
			return pstrdup(value->val.boolean ? "true" : "false");
		default:
			break;
	}
	bad_value(key);
	return NULL; /* not reached */
}

static Datum
input_value(const char *text, Oid type)
{
	Oid input;
	Oid parameter;

	getTypeInputInfo(type, &input, &parameter);
	return OidInputFunctionCall(input, unconstify(char *, text), parameter, -1);
}

/* A JSON array of strings, numbers and nulls. */
static Datum
array_value(const char *key, const JsonbValue *value, Oid element)
{
	ArrayBuildState *state = initArrayResult(element, CurrentMemoryContext, false);
	JsonbIterator *iterator = JsonbIteratorInit(value->val.binary.data);
	JsonbIteratorToken token;
	JsonbValue member;

	if (!JsonContainerIsArray(value->val.binary.data))
		bad_value(key);
	while ((token = JsonbIteratorNext(&iterator, &member, true)) != WJB_DONE)
	{
		if (token != WJB_ELEM)
			continue;
		state = accumArrayResult(state,
								 member.type == jbvNull ?
									 (Datum) 0 :
									 input_value(scalar_text(key, &member), element),
								 member.type == jbvNull, element, CurrentMemoryContext);
	}
	return makeArrayResult(state, CurrentMemoryContext);
}

/* A JSON value, not null, as the type takes it. */
static Datum
typed_value(const char *key, JsonbValue *value, Oid type)
{
	Oid element = get_element_type(type);

	if (type == JSONBOID)
		return JsonbPGetDatum(JsonbValueToJsonb(value));
	if (OidIsValid(element) && value->type == jbvBinary)
		return array_value(key, value, element);
	return input_value(scalar_text(key, value), type);
}

/* A message of a type's input function doesn't know whose value it was. */
static void
name_option(void *key)
{
	errcontext("option \"%s\"", (const char *) key);
}

static void
set_argument(FunctionCallInfo call, const Signature *signature, int i, char *key,
			 JsonbValue *value)
{
	ErrorContextCallback callback;

	callback.callback = name_option;
	callback.arg = key;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	call->args[i].isnull = value->type == jbvNull;
	if (!call->args[i].isnull)
		call->args[i].value = typed_value(key, value, signature->type[i]);
	error_context_stack = callback.previous;
}

static void
refuse_given(const char *key, const GivenArgument *given, int ngiven)
{
	for (int i = 0; i < ngiven; i++)
		if (strcmp(given[i].name, key) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DP_ARGUMENT),
					 errmsg("\"%s\" is an argument, not an option", key)));
}

/* Sets the arguments that an object names; returns what else is in it, an object or NULL. */
static Jsonb *
set_named(FunctionCallInfo call, const Signature *signature, Jsonb *arguments,
		  const GivenArgument *given, int ngiven)
{
	JsonbIterator *iterator = JsonbIteratorInit(&arguments->root);
	JsonbParseState *state = NULL;
	JsonbIteratorToken token;
	JsonbValue key;
	JsonbValue value;

	while ((token = JsonbIteratorNext(&iterator, &key, true)) != WJB_DONE)
	{
		char *name;
		int i;

		if (token != WJB_KEY)
			continue;
		(void) JsonbIteratorNext(&iterator, &value, true);
		name = pnstrdup(key.val.string.val, key.val.string.len);
		refuse_given(name, given, ngiven);
		i = find_argument(signature, name);
		if (i >= 0)
		{
			set_argument(call, signature, i, name, &value);
			continue;
		}
		if (state == NULL)
			(void) pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
		(void) pushJsonbValue(&state, WJB_KEY, &key);
		(void) pushJsonbValue(&state, WJB_VALUE, &value);
	}
	return state ? JsonbValueToJsonb(pushJsonbValue(&state, WJB_END_OBJECT, NULL)) : NULL;
}

static void
set_given(FunctionCallInfo call, const Signature *signature, const GivenArgument *given)
{
	int i = find_argument(signature, given->name);

	if (i < 0)
		elog(ERROR, "the function has no argument \"%s\"", given->name);
	call->args[i].value = given->value;
	call->args[i].isnull = given->isnull;
}

/* Keys beyond the arguments are the function's own options. */
static void
add_options(FunctionCallInfo call, const Signature *signature, Jsonb *rest)
{
	int i = find_argument(signature, "options");

	if (i < 0)
		elog(ERROR, "the function has no argument \"options\"");
	if (!call->args[i].isnull)
		call->args[i].value = DirectFunctionCall2(jsonb_concat, call->args[i].value,
												  JsonbPGetDatum(rest));
}

/*
 * Fills "call", which has room for FUNC_MAX_ARGS arguments, for a call of a function:
 * with the given arguments, those that the object names, and defaults.
 */
void
fill_named_call(FunctionCallInfo call, Oid function, Jsonb *arguments,
				const GivenArgument *given, int ngiven)
{
	Signature signature = read_signature(function);
	Jsonb *rest;

	InitFunctionCallInfoData(*call, NULL, signature.n, InvalidOid, NULL, NULL);
	fill_defaults(call, &signature);
	for (int i = 0; i < ngiven; i++)
		set_given(call, &signature, &given[i]);
	rest = set_named(call, &signature, arguments, given, ngiven);
	if (rest != NULL)
		add_options(call, &signature, rest);
}
