/*
 * tokenize.c
 *	  From one value of the text column to tokens: which types have tokens, and
 *	  where their bytes are.
 *
 * A text (text, varchar, char, name, and what is a domain over them or
 * binary-coercible to text) is cut by the named method.  An array of texts or
 * integers is its own sequence: each element is a token, and a NULL or empty
 * element parts the sequence.  Since n-grams are joined by blanks, an element's
 * blanks and backslashes are escaped with a backslash.  With 'item' the whole
 * value of any type is one token, as it stands.
 *
 * The name is resolved once, in tokenizer_create(), under the caller's rights
 * and search_path; tokenize() then runs as whoever reads the relation.
 */
#include "postgres.h"

#include "access/tupmacs.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "ngram/tokenize_methods.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Where the bytes of a scalar value or an array's element come from. */
typedef enum ValueForm
{
	FORM_NONE,
	FORM_TEXT,
	FORM_BPCHAR, /* text whose trailing blanks mean nothing */
	FORM_NAME,
	FORM_INT2,
	FORM_INT4,
	FORM_INT8,
	FORM_OUTPUT /* by the type's output function */
} ValueForm;

typedef enum Method
{
	METHOD_WORD,
	METHOD_WHITESPACE,
	METHOD_TEXT_SEARCH,
	METHOD_ITEM,
	METHOD_TERM /* as an item, but of an array each element */
} Method;

struct Tokenizer
{
	Method method;
	ValueForm form; /* of the value, or of an array's elements */
	CharacterClasses *classes;
	TextSearch *search;
	FmgrInfo output;

	/* an array's elements */
	bool is_array;
	int16 typlen;
	bool typbyval;
	char typalign;
	StringInfoData escaped;
};

/* Room for an int8's digits, sign and terminator. */
#define INTEGER_SIZE 24

/* The form of a type whose values are texts or integers, else FORM_NONE. */
static ValueForm
scalar_form(Oid type)
{
	switch (type)
	{
		case BPCHAROID:
			return FORM_BPCHAR;
		case NAMEOID:
			return FORM_NAME;
		case INT2OID:
			return FORM_INT2;
		case INT4OID:
			return FORM_INT4;
		case INT8OID:
			return FORM_INT8;
		default:
			return IsBinaryCoercible(type, TEXTOID) ? FORM_TEXT : FORM_NONE;
	}
}

/* Resolves the tokenizer's name, or takes what it was resolved to. */
static void
set_method(Tokenizer *tokenizer, const char *name, Oid object)
{
	if (strcmp(name, "word") == 0)
		tokenizer->method = METHOD_WORD;
	else if (strcmp(name, "whitespace") == 0)
		tokenizer->method = METHOD_WHITESPACE;
	else if (strcmp(name, "item") == 0)
		tokenizer->method = METHOD_ITEM;
	else if (strcmp(name, "term") == 0)
		tokenizer->method = METHOD_TERM;
	else if (strncmp(name, "parser:", 7) == 0)
	{
		tokenizer->method = METHOD_TEXT_SEARCH;
		tokenizer->search = OidIsValid(object) ? text_search_of_parser(object) :
												 text_search_parser(name + 7);
	}
	else if (strncmp(name, "config:", 7) == 0)
	{
		tokenizer->method = METHOD_TEXT_SEARCH;
		tokenizer->search = OidIsValid(object) ? text_search_of_config(object) :
												 text_search_config(name + 7);
	}
	else
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("unknown tokenizer \"%s\"", name),
				 errhint(TOKENIZER_HINT)));
}

/* Decides how the column's values are read, or refuses its type. */
static void
set_form(Tokenizer *tokenizer, Oid coltype)
{
	Oid type = getBaseType(coltype);
	Oid element = get_element_type(type);

	if (tokenizer->method == METHOD_ITEM ||
		(tokenizer->method == METHOD_TERM && !OidIsValid(element)))
	{
		Oid function;
		bool is_varlena;

		tokenizer->form = scalar_form(type);
		if (tokenizer->form == FORM_NONE)
		{
			tokenizer->form = FORM_OUTPUT;
			getTypeOutputInfo(type, &function, &is_varlena);
			fmgr_info(function, &tokenizer->output);
		}
		return;
	}
	if (OidIsValid(element))
	{
		tokenizer->is_array = true;
		tokenizer->form = scalar_form(getBaseType(element));
		get_typlenbyvalalign(element, &tokenizer->typlen, &tokenizer->typbyval,
							 &tokenizer->typalign);
		initStringInfo(&tokenizer->escaped);
	}
	else
	{
		tokenizer->form = scalar_form(type);
		if (tokenizer->form >= FORM_INT2)
			tokenizer->form = FORM_NONE;
	}
	if (tokenizer->form == FORM_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_DP_COLUMN),
				 errmsg("type %s has no tokens", format_type_be(coltype)),
				 errhint("The column must be of a text type, or an array of texts or integers.")));
}

static Tokenizer *
create(const char *name, Oid object, Oid coltype)
{
	Tokenizer *tokenizer = palloc0(sizeof(Tokenizer));

	set_method(tokenizer, name, object);
	set_form(tokenizer, coltype);
	if (tokenizer->method == METHOD_WORD || tokenizer->method == METHOD_WHITESPACE)
		tokenizer->classes = character_classes_create();
	return tokenizer;
}

/*
 * tokenizer_create: a tokenizer for the values of one column.
 *
 * name: see tokenize.h; it must be known also where the column is an array,
 * which needs none.  coltype: the column's type, a domain as it stands.
 * Allocates in the current memory context.
 */
Tokenizer *
tokenizer_create(const char *name, Oid coltype)
{
	return create(name, InvalidOid, coltype);
}

/* tokenizer_create_of: see tokenize.h */
Tokenizer *
tokenizer_create_of(const char *name, Oid object, Oid coltype, Oid owner)
{
	Tokenizer *tokenizer = create(name, object, coltype);

	if (tokenizer->method == METHOD_TEXT_SEARCH)
		text_search_guard(tokenizer->search, owner);
	return tokenizer;
}

/* The text search parser or configuration that the name stands for; InvalidOid for others. */
Oid
tokenizer_object(const Tokenizer *tokenizer)
{
	return tokenizer->method == METHOD_TEXT_SEARCH ? text_search_object(tokenizer->search) :
													 InvalidOid;
}

/* tokenizer_escapes: do blanks and backslashes within a token have a backslash before them? */
bool
tokenizer_escapes(const Tokenizer *tokenizer)
{
	return tokenizer->is_array || tokenizer->method == METHOD_TEXT_SEARCH;
}

/*
 * tokenizer_name: by which a parallel worker can make the same tokenizer again; NULL if it
 * can't, because functions would run in it that aren't known to be parallel safe: those of
 * text search bear no such mark.
 */
const char *
tokenizer_name(const Tokenizer *tokenizer)
{
	if (tokenizer->form == FORM_OUTPUT &&
		func_parallel(tokenizer->output.fn_oid) != PROPARALLEL_SAFE)
		return NULL;
	switch (tokenizer->method)
	{
		case METHOD_WORD:
			return "word";
		case METHOD_WHITESPACE:
			return "whitespace";
		case METHOD_ITEM:
			return "item";
		case METHOD_TERM:
			return "term";
		case METHOD_TEXT_SEARCH:
			break;
	}
	return NULL;
}

/*
 * The bytes of a value: in place where it has them, else in the buffer of
 * INTEGER_SIZE bytes or freshly allocated.
 */
static char *
value_bytes(Tokenizer *tokenizer, Datum value, char *buffer, int *len)
{
	struct varlena *text;
	char *bytes = buffer;

	switch (tokenizer->form)
	{
		case FORM_TEXT:
		case FORM_BPCHAR:
			text = PG_DETOAST_DATUM_PACKED(value);
			bytes = VARDATA_ANY(text);
			*len = (int) VARSIZE_ANY_EXHDR(text);
			if (tokenizer->form == FORM_BPCHAR)
				*len = bpchartruelen(bytes, *len);
			break;
		case FORM_NAME:
			bytes = NameStr(*DatumGetName(value));
			*len = (int) strnlen(bytes, NAMEDATALEN);
			break;
		case FORM_INT2:
			*len = pg_ltoa(DatumGetInt16(value), buffer);
			break;
		case FORM_INT4:
			*len = pg_ltoa(DatumGetInt32(value), buffer);
			break;
		case FORM_INT8:
			*len = pg_lltoa(DatumGetInt64(value), buffer);
			break;
		default:
			bytes = OutputFunctionCall(&tokenizer->output, value);
			*len = (int) strlen(bytes);
			break;
	}
	return bytes;
}

/* Hands on one element of an array. */
static void
emit_element(Tokenizer *tokenizer, Datum value, TokenSink sink, void *state)
{
	StringInfo escaped = &tokenizer->escaped;
	char buffer[INTEGER_SIZE];
	int len;
	char *bytes = value_bytes(tokenizer, value, buffer, &len);

	if (len == 0)
		sink(state, NULL, 0);
	else if (tokenizer->form >= FORM_INT2 ||
			 (memchr(bytes, ' ', len) == NULL && memchr(bytes, '\\', len) == NULL))
		sink(state, bytes, len);
	else
	{
		resetStringInfo(escaped);
		for (int i = 0; i < len; i++)
		{
			if (bytes[i] == ' ' || bytes[i] == '\\')
				appendStringInfoChar(escaped, '\\');
			appendStringInfoChar(escaped, bytes[i]);
		}
		sink(state, escaped->data, escaped->len);
	}
}

/*
 * The elements of an array, of all its dimensions, in storage order.  Walks the
 * array in place: deconstruct_array() would allocate a Datum for each.
 */
static void
cut_array(Tokenizer *tokenizer, Datum value, TokenSink sink, void *state)
{
	ArrayType *array = DatumGetArrayTypeP(value);
	int n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	const bits8 *nulls = ARR_NULLBITMAP(array);
	char *p = ARR_DATA_PTR(array);

	for (int i = 0; i < n; i++)
	{
		Datum element;

		CHECK_FOR_INTERRUPTS();
		if (nulls != NULL && (nulls[i / 8] & (1 << (i % 8))) == 0)
		{
			sink(state, NULL, 0);
			continue;
		}
		element = fetch_att(p, tokenizer->typbyval, tokenizer->typlen);
		emit_element(tokenizer, element, sink, state);
		p = att_addlength_pointer(p, tokenizer->typlen, p);
		p = (char *) att_align_nominal(p, tokenizer->typalign);
	}
}

/*
 * tokenize: hands the tokens of a value, not NULL, to the sink, in order.
 *
 * A token's bytes are valid only during the call of the sink.  May allocate in
 * the current memory context (a toasted value, at least), which the caller
 * resets between values.
 */
void
tokenize(Tokenizer *tokenizer, Datum value, TokenSink sink, void *state)
{
	char buffer[INTEGER_SIZE];
	char *bytes;
	int len;

	if (tokenizer->is_array)
	{
		cut_array(tokenizer, value, sink, state);
		return;
	}
	bytes = value_bytes(tokenizer, value, buffer, &len);
	switch (tokenizer->method)
	{
		case METHOD_WORD:
			cut_words(tokenizer->classes, bytes, len, sink, state);
			break;
		case METHOD_WHITESPACE:
			cut_whitespace(tokenizer->classes, bytes, len, sink, state);
			break;
		case METHOD_TEXT_SEARCH:
			cut_text_search(tokenizer->search, bytes, len, sink, state);
			break;
		case METHOD_ITEM:
		case METHOD_TERM:
			if (len > 0)
				sink(state, bytes, len);
			break;
	}
}
