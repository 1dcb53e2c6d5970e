/*
 * tokenize_parser.c
 *	  The tokenizers 'parser:NAME' and 'config:NAME': PostgreSQL's text search
 *	  parsers and configurations.
 *
 * A parser's tokens are taken as they are, but for those of type "blank".  A
 * configuration's lexemes are taken in order; where a dictionary offers several
 * variants for one position, the first.
 *
 * The name is the analyst's and resolved in the analyst's session, under that search_path and
 * with those rights; the object is not.  A release takes a configuration only if it and
 * all dictionaries that it maps to are the relation's owner's or a superuser's: else
 * whoever made one could choose which texts it fails at.  (Parsers only a superuser can make.)
 * All dictionaries are loaded before any charge, so that a broken one (a missing stop word
 * file) is an ordinary error; but any change of any dictionary in the database makes PostgreSQL
 * load them anew, at the first text that has a token for them.  So in a release a piece of text
 * at which a dictionary fails has no tokens, and whether one failed decides nothing else.
 *
 * Parsers hold a text several times over as wide characters and parsetext()
 * all of its words, so a long text goes to them in pieces, cut at blanks.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_ts_config.h"
#include "catalog/pg_ts_dict.h"
#include "dpngram_errcodes.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "ngram/tokenize_methods.h"
#include "nodes/value.h"
#include "tsearch/ts_cache.h"
#include "tsearch/ts_utils.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

/* Bytes in one piece of a text. */
#define LARGEST_PIECE (4 * 1024 * 1024)

/* parsetext() gives this position to all words from there on. */
#define LAST_POSITION (MAXENTRYPOS - 1)

struct TextSearch
{
	Oid parser;
	Oid config;	 /* or InvalidOid: the parser's tokens */
	bool *blank; /* by token type */
	int types;
	bool forgiving;		   /* a dictionary that fails has no lexemes */
	MemoryContext context; /* for the work on one piece */
};

/* The list of identifiers in a qualified name, or NIL if it is none. */
static List *
split_name(const char *name)
{
	List *identifiers;
	List *names = NIL;
	ListCell *cell;

	if (!SplitIdentifierString(pstrdup(name), '.', &identifiers))
		return NIL;
	foreach (cell, identifiers)
		names = lappend(names, makeString(pstrdup(lfirst(cell))));
	return names;
}

/* Notes which of the parser's token types are blanks. */
static void
find_blank_types(TextSearch *search)
{
	TSParserCacheEntry *parser = lookup_ts_parser_cache(search->parser);
	LexDescr *types;

	if (!OidIsValid(parser->lextypeOid))
		return;
	types = (LexDescr *) DatumGetPointer(OidFunctionCall1(parser->lextypeOid,
														  Int32GetDatum(0)));
	for (LexDescr *type = types; type != NULL && type->lexid != 0; type++)
		search->types = Max(search->types, type->lexid + 1);
	search->blank = palloc0(search->types * sizeof(bool) + 1);
	for (LexDescr *type = types; type != NULL && type->lexid != 0; type++)
		search->blank[type->lexid] = strcmp(type->alias, "blank") == 0;
}

static TextSearch *
text_search_create(Oid parser, Oid config)
{
	TextSearch *search = palloc0(sizeof(TextSearch));

	search->parser = parser;
	search->config = config;
	search->context = AllocSetContextCreate(CurrentMemoryContext,
											"dpngram text search",
											ALLOCSET_DEFAULT_SIZES);
	return search;
}

/* text_search_of_parser: by a parser's OID. */
TextSearch *
text_search_of_parser(Oid parser)
{
	TextSearch *search = text_search_create(parser, InvalidOid);

	find_blank_types(search);
	return search;
}

/*
 * text_search_parser: resolves a text search parser, under the search_path of
 * the moment.  Raises ERRCODE_DP_ARGUMENT where there is none of that name.
 */
TextSearch *
text_search_parser(const char *name)
{
	List *names = split_name(name);
	Oid parser = names == NIL ? InvalidOid : get_ts_parser_oid(names, true);

	if (!OidIsValid(parser))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("text search parser \"%s\" does not exist", name),
				 errhint(TOKENIZER_HINT)));
	return text_search_of_parser(parser);
}

/* text_search_of_config: by a configuration's OID; loads its dictionaries. */
TextSearch *
text_search_of_config(Oid config)
{
	TSConfigCacheEntry *entry = lookup_ts_config_cache(config);

	for (int i = 0; i < entry->lenmap; i++)
	{
		for (int j = 0; j < entry->map[i].len; j++)
			lookup_ts_dictionary_cache(entry->map[i].dictIds[j]);
	}
	return text_search_create(entry->prsId, config);
}

/*
 * text_search_config: resolves a text search configuration, under the
 * search_path of the moment, and loads its dictionaries.  Raises
 * ERRCODE_DP_ARGUMENT where there is none of that name.
 */
TextSearch *
text_search_config(const char *name)
{
	List *names = split_name(name);
	Oid config = names == NIL ? InvalidOid : get_ts_config_oid(names, true);

	if (!OidIsValid(config))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("text search configuration \"%s\" does not exist", name),
				 errhint(TOKENIZER_HINT)));
	return text_search_of_config(config);
}

Oid
text_search_object(const TextSearch *search)
{
	return OidIsValid(search->config) ? search->config : search->parser;
}

/* ------------------------------------------------------------------------
 * in a release
 * ------------------------------------------------------------------------ */

static void
refuse_stranger(Oid role, Oid owner, const char *what)
{
	if (role != owner && !superuser_arg(role))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("the text search configuration is not for releases of this relation"),
				 errdetail("%s of another role than the relation's owner or a superuser.", what),
				 errhint("Ask the relation's owner for one, or use one of PostgreSQL's own.")));
}

static Oid
config_owner(Oid config)
{
	HeapTuple tuple = SearchSysCache1(TSCONFIGOID, ObjectIdGetDatum(config));
	Oid owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for text search configuration %u", config);
	owner = ((Form_pg_ts_config) GETSTRUCT(tuple))->cfgowner;
	ReleaseSysCache(tuple);
	return owner;
}

static Oid
dictionary_owner(Oid dictionary)
{
	HeapTuple tuple = SearchSysCache1(TSDICTOID, ObjectIdGetDatum(dictionary));
	Oid owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for text search dictionary %u", dictionary);
	owner = ((Form_pg_ts_dict) GETSTRUCT(tuple))->dictowner;
	ReleaseSysCache(tuple);
	return owner;
}

/*
 * text_search_guard: for the texts of a relation that has this owner; refuses what strangers
 * may change, and forgives dictionaries that fail from now on.
 */
void
text_search_guard(TextSearch *search, Oid owner)
{
	TSConfigCacheEntry *entry;

	search->forgiving = true;
	if (!OidIsValid(search->config))
		return;
	refuse_stranger(config_owner(search->config), owner, "It is");
	entry = lookup_ts_config_cache(search->config);
	for (int i = 0; i < entry->lenmap; i++)
		for (int j = 0; j < entry->map[i].len; j++)
			refuse_stranger(dictionary_owner(entry->map[i].dictIds[j]), owner,
							"It has a dictionary");
}

/*
 * Hands on a token, its blanks and backslashes escaped: parsers give tokens
 * with blanks in them (a tag of markup), and n-grams are joined by blanks.
 */
static void
emit_escaped(const char *token, int len, TokenSink sink, void *state)
{
	char *copy;
	int n = 0;

	if (memchr(token, ' ', len) == NULL && memchr(token, '\\', len) == NULL)
	{
		sink(state, token, len);
		return;
	}
	copy = palloc(2 * (Size) len);
	for (int i = 0; i < len; i++)
	{
		if (token[i] == ' ' || token[i] == '\\')
			copy[n++] = '\\';
		copy[n++] = token[i];
	}
	sink(state, copy, n);
	pfree(copy);
}

static void
cut_by_parser(TextSearch *search, char *text, int len, TokenSink sink, void *state)
{
	TSParserCacheEntry *parser = lookup_ts_parser_cache(search->parser);
	Datum work = FunctionCall2(&parser->prsstart, PointerGetDatum(text),
							   Int32GetDatum(len));

	for (;;)
	{
		char *token = NULL;
		int token_len = 0;
		int type;

		CHECK_FOR_INTERRUPTS();
		type = DatumGetInt32(FunctionCall3(&parser->prstoken, work,
										   PointerGetDatum(&token),
										   PointerGetDatum(&token_len)));
		if (type <= 0)
			break;
		if (token_len > 0 && !(type < search->types && search->blank[type]))
			emit_escaped(token, token_len, sink, state);
	}
	FunctionCall1(&parser->prsend, work);
}

/*
 * parsetext(), in a subtransaction, since a dictionary that fails may have opened whatever it
 * likes; after a failure the text has no words.
 */
static void
parse_forgiving(TextSearch *search, ParsedText *parsed, char *text, int len)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner resources = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		parsetext(search->config, parsed, text, len);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		if (ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION ||
			ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_INSUFFICIENT_RESOURCES)
			ReThrowError(error);
		FreeErrorData(error);
		parsed->curwords = 0;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = resources;
}

/*
 * The first variant of each position.  Positions stop counting at
 * LAST_POSITION; from there the variants' own numbers tell them apart, which
 * start at 1, or are all 0 in dictionaries that know no variants.
 */
static void
cut_by_config(TextSearch *search, char *text, int len, TokenSink sink, void *state)
{
	ParsedText parsed;
	int position = 0;

	parsed.lenwords = 64;
	parsed.curwords = 0;
	parsed.pos = 0;
	parsed.words = palloc(parsed.lenwords * sizeof(ParsedWord));
	if (search->forgiving)
		parse_forgiving(search, &parsed, text, len);
	else
		parsetext(search->config, &parsed, text, len);

	for (int i = 0; i < parsed.curwords; i++)
	{
		ParsedWord *word = &parsed.words[i];

		CHECK_FOR_INTERRUPTS();
		if (word->pos.pos != position ||
			(position == LAST_POSITION && word->nvariant <= 1))
		{
			if (word->len > 0)
				emit_escaped(word->word, word->len, sink, state);
		}
		position = word->pos.pos;
	}
}

/*
 * Bytes of the next piece: the whole text where it is short, else up to the
 * last blank in reach, or up to a character's end where there is no blank.
 */
static int
piece_length(const char *text, int len)
{
	if (len <= LARGEST_PIECE)
		return len;
	for (int i = LARGEST_PIECE; i > 0; i--)
	{
		if (text[i - 1] == ' ' || (text[i - 1] >= '\t' && text[i - 1] <= '\r'))
			return i;
	}
	return pg_mbcliplen(text, len, LARGEST_PIECE);
}

/*
 * cut_text_search: hands the tokens of a text to the sink, in order.
 *
 * text: len bytes in the database's encoding (not const only because the
 * functions of tsearch are not; it isn't changed).
 */
void
cut_text_search(TextSearch *search, char *text, int len, TokenSink sink, void *state)
{
	while (len > 0)
	{
		int piece = piece_length(text, len);
		MemoryContext old = MemoryContextSwitchTo(search->context);

		if (OidIsValid(search->config))
			cut_by_config(search, text, piece, sink, state);
		else
			cut_by_parser(search, text, piece, sink, state);
		MemoryContextSwitchTo(old);
		MemoryContextReset(search->context);
		text += piece;
		len -= piece;
	}
}
