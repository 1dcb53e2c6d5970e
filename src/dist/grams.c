/*
 * grams.c
 *	  The n-grams of one value, as pieces of one text.
 *
 * All tokens of a value are written down one after the other with a blank between
 * them, which is how an n-gram is written, too.  So every n-gram is a piece of that
 * text, and cutting a value copies each token once, whatever n is.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "dist/grams.h"

#define FIRST_TOKENS 256

/*
 * gram_cutter_create: in the current memory context.  n, max_tokens: see the
 * struct; both may be changed between values.
 */
GramCutter *
gram_cutter_create(Tokenizer *tokenizer, int n, int max_tokens)
{
	GramCutter *cutter = palloc0(sizeof(GramCutter));

	cutter->tokenizer = tokenizer;
	cutter->n = n;
	cutter->max_tokens = max_tokens;
	cutter->gram_capacity = FIRST_TOKENS;
	cutter->gram = palloc(cutter->gram_capacity * sizeof(Gram));
	cutter->token_capacity = FIRST_TOKENS;
	cutter->token = palloc(cutter->token_capacity * sizeof(int));
	initStringInfo(&cutter->text);
	cutter->work = AllocSetContextCreate(CurrentMemoryContext, "dpngram n-grams",
										 ALLOCSET_DEFAULT_SIZES);
	return cutter;
}

static void
add_token(GramCutter *cutter, int start)
{
	if (cutter->ntokens == cutter->token_capacity)
	{
		cutter->token_capacity *= 2;
		cutter->token = repalloc_huge(cutter->token, cutter->token_capacity * sizeof(int));
	}
	cutter->token[cutter->ntokens++] = start;
}

/* The n-gram that ends where the text does. */
static void
add_gram(GramCutter *cutter)
{
	int start = cutter->token[cutter->ntokens - cutter->n];

	if (cutter->ngrams == cutter->gram_capacity)
	{
		cutter->gram_capacity *= 2;
		cutter->gram = repalloc_huge(cutter->gram, cutter->gram_capacity * sizeof(Gram));
	}
	cutter->gram[cutter->ngrams++] = (Gram){start, cutter->text.len - start};
}

/* The TokenSink of the tokenizer. */
static void
take_token(void *state, const char *token, int len)
{
	GramCutter *cutter = state;

	if (token == NULL)
	{
		cutter->run = 0;
		return;
	}
	if (cutter->max_tokens > 0 && cutter->ntokens >= (Size) cutter->max_tokens)
	{
		cutter->too_long = true;
		return;
	}
	add_token(cutter, cutter->text.len);
	appendBinaryStringInfo(&cutter->text, token, len);
	if (++cutter->run >= cutter->n)
		add_gram(cutter);
	appendStringInfoChar(&cutter->text, ' ');
}

/*
 * gram_cut: finds the n-grams of a value, not NULL, in order.  They are valid until
 * the next call.
 */
void
gram_cut(GramCutter *cutter, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(cutter->work);

	resetStringInfo(&cutter->text);
	cutter->ngrams = 0;
	cutter->ntokens = 0;
	cutter->run = 0;
	cutter->too_long = false;
	tokenize(cutter->tokenizer, value, take_token, cutter);
	if (cutter->too_long)
		cutter->ngrams = 0;
	MemoryContextSwitchTo(old);
	MemoryContextReset(cutter->work);
}

/*
 * gram_tokens: how many tokens an n-gram has, and where its last one starts.
 *
 * Blanks part tokens, but, where tokens are escaped, for those after a backslash.  No
 * byte of a character of several bytes is a blank or a backslash in any encoding of a
 * server.
 */
int
gram_tokens(const char *text, int len, bool escaped, int *last)
{
	int tokens = len > 0 ? 1 : 0;

	*last = 0;
	for (int i = 0; i < len; i++)
	{
		if (escaped && text[i] == '\\')
			i++;
		else if (text[i] == ' ')
		{
			tokens++;
			*last = i + 1;
		}
	}
	return tokens;
}
