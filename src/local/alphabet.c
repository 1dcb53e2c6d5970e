/*
 * alphabet.c
 *	  The public set of characters that terms are made of.
 *
 * It is written as in a regular expression's brackets: characters and ranges, a-z0-9,
 * a backslash before a hyphen or a backslash that stands for itself.  Characters are
 * those of the database's encoding, compared as they are: no case is folded and no
 * Unicode normalisation done, because a client elsewhere would have to do the same.
 */
#include "postgres.h"

#include "dpngram_errcodes.h"
#include "local/alphabet.h"
#include "miscadmin.h"

static void
bad_alphabet(const char *must)
{
	ereport(ERROR,
			(errcode(ERRCODE_DP_ARGUMENT), errmsg("alphabet must %s", must),
			 errhint("It is a set of characters and ranges, such as \"a-z\" or \"a-z0-9_\"; a "
					 "backslash goes before a hyphen or a backslash that is meant as one.")));
}

static int
compare_characters(const void *a, const void *b)
{
	pg_wchar x = *(const pg_wchar *) a;
	pg_wchar y = *(const pg_wchar *) b;

	return (x > y) - (x < y);
}

/* A character of the spec at *at, which moves on. */
static pg_wchar
take_character(const pg_wchar *spec, int *at)
{
	if (spec[*at] == '\\')
	{
		(*at)++;
		if (spec[*at] != '\\' && spec[*at] != '-')
			bad_alphabet("have a hyphen or a backslash after a backslash");
	}
	return spec[(*at)++];
}

/*
 * Of a range's codes those that are characters: of UTF-8, for instance, no surrogates; of
 * EUC_JP none whose bytes are two characters of ASCII.
 */
static bool
is_character(pg_wchar code)
{
	char text[MAX_MULTIBYTE_CHAR_LEN + 1];
	pg_wchar back[MAX_MULTIBYTE_CHAR_LEN + 1];
	int len = pg_wchar2mb_with_len(&code, text, 1);

	return code != 0 && pg_verifymbstr(text, len, true) &&
		   pg_mb2wchar_with_len(text, back, len) == 1 && back[0] == code;
}

static void
add_range(Alphabet *alphabet, pg_wchar first, pg_wchar last)
{
	if (last < first)
		bad_alphabet("have ranges that ascend");
	if (last - first >= (pg_wchar) (ALPHABET_MAX_SIZE - alphabet->size))
		bad_alphabet(psprintf("have at most %d characters", ALPHABET_MAX_SIZE));
	alphabet->character = repalloc(alphabet->character,
								   (alphabet->size + (last - first) + 1) * sizeof(pg_wchar));
	for (pg_wchar c = first; c <= last; c++)
		if (is_character(c))
			alphabet->character[alphabet->size++] = c;
}

static void
drop_repeated(Alphabet *alphabet)
{
	int n = 0;

	qsort(alphabet->character, alphabet->size, sizeof(pg_wchar), compare_characters);
	for (int i = 0; i < alphabet->size; i++)
		if (n == 0 || alphabet->character[i] != alphabet->character[n - 1])
			alphabet->character[n++] = alphabet->character[i];
	alphabet->size = n;
}

/* alphabet_parse: palloc'd; errors: NG005. */
Alphabet *
alphabet_parse(const char *spec)
{
	Alphabet *alphabet = palloc(sizeof(Alphabet));
	int len = strlen(spec);
	pg_wchar *characters = palloc((len + 1) * sizeof(pg_wchar));
	int n = pg_mb2wchar_with_len(spec, characters, len);

	alphabet->size = 0;
	alphabet->character = palloc(sizeof(pg_wchar));
	for (int at = 0; at < n;)
	{
		pg_wchar first;

		CHECK_FOR_INTERRUPTS();
		if (characters[at] == '-')
			bad_alphabet("have a character before a hyphen");
		first = take_character(characters, &at);
		if (characters[at] != '-')
		{
			add_range(alphabet, first, first);
			continue;
		}
		at++;
		if (at == n || characters[at] == '-')
			bad_alphabet("have a character after a hyphen");
		add_range(alphabet, first, take_character(characters, &at));
	}
	if (alphabet->size == 0)
		bad_alphabet("have a character");
	drop_repeated(alphabet);
	pfree(characters);
	return alphabet;
}

static uint16
find_symbol(const Alphabet *alphabet, pg_wchar character)
{
	const pg_wchar *found = bsearch(&character, alphabet->character, alphabet->size,
									sizeof(pg_wchar), compare_characters);

	return found == NULL ? SYMBOL_END : (uint16) (found - alphabet->character + 1);
}

/*
 * A text's symbols, for which there is room for TERM_MAX_LENGTH; returns their number, 0
 * if the text is empty, too long or has a character that is not in the alphabet.
 */
int
alphabet_encode(const Alphabet *alphabet, const char *text, int len, uint16 *symbol)
{
	pg_wchar characters[TERM_MAX_LENGTH + 1];
	int n;

	if (len > TERM_MAX_LENGTH * MAX_MULTIBYTE_CHAR_LEN ||
		pg_mbstrlen_with_len(text, len) > TERM_MAX_LENGTH)
		return 0;
	n = pg_mb2wchar_with_len(text, characters, len);
	for (int i = 0; i < n; i++)
	{
		symbol[i] = find_symbol(alphabet, characters[i]);
		if (symbol[i] == SYMBOL_END)
			return 0;
	}
	return n;
}

/* The text of symbols, palloc'd. */
char *
alphabet_text(const Alphabet *alphabet, const uint16 *symbol, int length)
{
	pg_wchar characters[TERM_MAX_LENGTH + 1];
	char *text = palloc(length * MAX_MULTIBYTE_CHAR_LEN + 1);

	for (int i = 0; i < length; i++)
		characters[i] = alphabet->character[symbol[i] - 1];
	(void) pg_wchar2mb_with_len(characters, text, length);
	return text;
}
