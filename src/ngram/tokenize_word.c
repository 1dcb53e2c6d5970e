/*
 * tokenize_word.c
 *	  The tokenizers 'word' and 'whitespace': cutting a text by classes of
 *	  characters.
 *
 * A word is a maximal run of letters, digits and the apostrophe U+0027 with at
 * least one letter or digit in it, lower-cased; the underscore parts words.
 * Runs are found first and lower-cased then, each by itself, by the database's
 * default collation.  What 'whitespace' leaves between blanks stays as it is.
 *
 * Classes come from the database's LC_CTYPE, which PostgreSQL sets for the
 * whole process; where that is C, or the encoding SQL_ASCII, only ASCII has
 * letters.  We ask the C library itself and not ts_locale.c, because that
 * file's functions changed in minor and in major releases.
 *
 * Most text is ASCII, so ASCII takes a table and copies no token that is in
 * lower case already.  Lower-casing by that table is right only where the
 * collation agrees (in Turkish it does not: I is lowered to a dotless i).
 */
#include "postgres.h"

#include <locale.h>
#include <wchar.h>
#include <wctype.h>

#include "catalog/pg_collation.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "ngram/tokenize_methods.h"
#include "utils/formatting.h"
#include "utils/memutils.h"

/* a character has exactly one of these ... */
#define CLASS_OTHER 0x01
#define CLASS_ALPHANUMERIC 0x02
#define CLASS_APOSTROPHE 0x04
#define CLASS_SPACE 0x08

/* ... and maybe these */
#define CLASS_UPPER 0x10 /* A-Z */
#define CLASS_WIDE 0x20	 /* not ASCII: may have a lower case */

#define WORD_CLASSES (CLASS_ALPHANUMERIC | CLASS_APOSTROPHE)

/* Characters whose classes are remembered: the Basic Multilingual Plane. */
#define REMEMBERED 0x10000

struct CharacterClasses
{
	int encoding;
	bool ascii_only;   /* no other letters or blanks are known */
	bool ascii_lower;  /* A-Z are lowered to a-z */
	uint8 single[256]; /* of single bytes */
	uint8 *plane;	   /* UTF-8: of code points, 0 where not asked yet */
	StringInfoData lowered;
};

/* The class of an ASCII character, the same under every locale. */
static uint8
ascii_class(unsigned char c)
{
	if (c >= 'A' && c <= 'Z')
		return CLASS_ALPHANUMERIC | CLASS_UPPER;
	if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
		return CLASS_ALPHANUMERIC;
	if (c == '\'')
		return CLASS_APOSTROPHE;
	if (c == ' ' || (c >= '\t' && c <= '\r'))
		return CLASS_SPACE;
	return CLASS_OTHER;
}

/* The class of any other character, by the C library. */
static uint8
library_class(const char *character, int len)
{
	mbstate_t shift;
	wchar_t wide;

	memset(&shift, 0, sizeof(shift));
	if (mbrtowc(&wide, character, len, &shift) != (size_t) len)
		return CLASS_OTHER | CLASS_WIDE;
	if (iswalnum((wint_t) wide))
		return CLASS_ALPHANUMERIC | CLASS_WIDE;
	if (iswspace((wint_t) wide))
		return CLASS_SPACE | CLASS_WIDE;
	return CLASS_OTHER | CLASS_WIDE;
}

static bool
ctype_is_c(void)
{
	const char *name = setlocale(LC_CTYPE, NULL);

	return name == NULL || strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0;
}

static bool
ascii_lowers_plainly(void)
{
	const char *upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *lower = str_tolower(upper, strlen(upper), DEFAULT_COLLATION_OID);

	return strcmp(lower, "abcdefghijklmnopqrstuvwxyz") == 0;
}

/*
 * character_classes_create: the classes of the database's characters, in the
 * current memory context.
 */
CharacterClasses *
character_classes_create(void)
{
	CharacterClasses *classes = palloc0(sizeof(CharacterClasses));

	classes->encoding = GetDatabaseEncoding();
	classes->ascii_only = classes->encoding == PG_SQL_ASCII || ctype_is_c();
	classes->ascii_lower = ascii_lowers_plainly();
	for (int c = 0; c < 256; c++)
	{
		char byte = (char) c;

		if (!IS_HIGHBIT_SET(c))
			classes->single[c] = ascii_class((unsigned char) c);
		else if (classes->ascii_only || pg_database_encoding_max_length() > 1)
			classes->single[c] = CLASS_OTHER | CLASS_WIDE;
		else
			classes->single[c] = library_class(&byte, 1);
	}
	if (classes->encoding == PG_UTF8 && !classes->ascii_only)
		classes->plane = palloc0(REMEMBERED);
	initStringInfo(&classes->lowered);
	return classes;
}

/* The class of the character at p that is not ASCII; *len gets its bytes. */
static uint8
wide_class(CharacterClasses *classes, const char *p, const char *end, int *len)
{
	pg_wchar code;

	*len = pg_encoding_mblen(classes->encoding, p);
	if (*len > end - p)
	{
		/* a character cut off: invalid text, but nothing to crash at */
		*len = (int) (end - p);
		return CLASS_OTHER | CLASS_WIDE;
	}
	if (classes->ascii_only || *len == 1)
		return classes->single[(unsigned char) *p];
	if (classes->plane == NULL || *len > 3)
		return library_class(p, *len);

	code = utf8_to_unicode((const unsigned char *) p);
	if (classes->plane[code] == 0)
		classes->plane[code] = library_class(p, *len);
	return classes->plane[code];
}

/*
 * Skips the characters that have a class of the mask; returns the first place
 * that has none.  *seen gets all classes met.
 */
static inline const char *
skip_run(CharacterClasses *classes, const char *p, const char *end, int mask,
		 int *seen)
{
	int met = 0;

	while (p < end)
	{
		int len = 1;
		int class;

		if (likely(!IS_HIGHBIT_SET(*p)))
			class = classes->single[(unsigned char) *p];
		else
			class = wide_class(classes, p, end, &len);
		if ((class & mask) == 0)
			break;
		met |= class;
		p += len;
	}
	*seen = met;
	return p;
}

/* Hands on one word in lower case; "seen" holds the classes of its characters. */
static void
emit_lowered(CharacterClasses *classes, const char *word, int len, int seen,
			 TokenSink sink, void *state)
{
	StringInfo lowered = &classes->lowered;

	if ((seen & (CLASS_UPPER | CLASS_WIDE)) == 0)
		sink(state, word, len);
	else if ((seen & CLASS_WIDE) == 0 && classes->ascii_lower)
	{
		resetStringInfo(lowered);
		enlargeStringInfo(lowered, len);
		for (int i = 0; i < len; i++)
			lowered->data[i] = (char) pg_ascii_tolower((unsigned char) word[i]);
		sink(state, lowered->data, len);
	}
	else
	{
		char *copy = str_tolower(word, len, DEFAULT_COLLATION_OID);

		sink(state, copy, (int) strlen(copy));
		pfree(copy);
	}
}

/*
 * cut_words: hands the words of a text to the sink, in order.
 *
 * text: len bytes in the database's encoding.
 */
void
cut_words(CharacterClasses *classes, const char *text, int len,
		  TokenSink sink, void *state)
{
	const char *p = text;
	const char *end = text + len;

	while (p < end)
	{
		const char *start;
		int seen;

		CHECK_FOR_INTERRUPTS();
		start = skip_run(classes, p, end, ~WORD_CLASSES & 0x0f, &seen);
		p = skip_run(classes, start, end, WORD_CLASSES, &seen);
		if (seen & CLASS_ALPHANUMERIC)
			emit_lowered(classes, start, (int) (p - start), seen, sink, state);
	}
}

/*
 * cut_whitespace: hands what stands between blanks to the sink, in order and
 * unchanged.
 */
void
cut_whitespace(CharacterClasses *classes, const char *text, int len,
			   TokenSink sink, void *state)
{
	const char *p = text;
	const char *end = text + len;

	while (p < end)
	{
		const char *start;
		int seen;

		CHECK_FOR_INTERRUPTS();
		start = skip_run(classes, p, end, CLASS_SPACE, &seen);
		p = skip_run(classes, start, end, ~CLASS_SPACE & 0x0f, &seen);
		if (p > start)
			sink(state, start, (int) (p - start));
	}
}
