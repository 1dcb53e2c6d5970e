/*
 * tokenize_parser.c
 *	  The tokenizers 'parser:NAME' and 'config:NAME': PostgreSQL's text search
 *	  parsers and configurations.
 *
 * A parser's tokens are taken as they are, but for those of type "blank".  A
 * configuration's lexemes are taken in order; where a dictionary offers several
 * variants for one position, the first.
 *
 * The name is the analyst's, and so may the object be.  That is safe: parsers
 * and dictionary templates are C functions that only a superuser can install,
 * what an analyst combines of them sees one document at a time and can neither
 * write nor remember, and each document still adds to its own user's n-grams
 * only.  An error it may raise is masked by the caller of the read.  No
 * privilege guards text search objects beyond USAGE on their schema, which the
 * lookup by a qualified name checks.
 *
 * All dictionaries of a configuration are loaded when the name is resolved, so
 * that a broken one (a missing stop word file) is an ordinary error before any
 * charge, and a thesaurus finds its sub-dictionary in the caller's search_path.
 *
 * Parsers hold a text several times over as wide characters and parsetext()
 * all of its words, so a long text goes to them in pieces, cut at blanks.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "dpngram_errcodes.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "ngram/tokenize_methods.h"
#include "nodes/value.h"
#include "tsearch/ts_cache.h"
#include "tsearch/ts_utils.h"
#include "utils/memutils.h"
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

/*
 * text_search_parser: resolves a text search parser, under the search_path of
 * the moment.  Raises ERRCODE_DP_ARGUMENT where there is none of that name.
 */
TextSearch *
text_search_parser(const char *name)
{
	List *names = split_name(name);
	Oid parser = names == NIL ? InvalidOid : get_ts_parser_oid(names, true);
	TextSearch *search;

	if (!OidIsValid(parser))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("text search parser \"%s\" does not exist", name),
				 errhint(TOKENIZER_HINT)));
	search = text_search_create(parser, InvalidOid);
	find_blank_types(search);
	return search;
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
	TSConfigCacheEntry *entry;

	if (!OidIsValid(config))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("text search configuration \"%s\" does not exist", name),
				 errhint(TOKENIZER_HINT)));
	entry = lookup_ts_config_cache(config);
	for (int i = 0; i < entry->lenmap; i++)
	{
		for (int j = 0; j < entry->map[i].len; j++)
			lookup_ts_dictionary_cache(entry->map[i].dictIds[j]);
	}
	return text_search_create(entry->prsId, config);
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
