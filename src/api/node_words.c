/*
 * node_words.c
 *	  The texts of released words, as a node finds them: the SQL functions exact_words()
 *	  and exact_row_words().
 *
 * Counts know words by their keys alone.  When those to be released are known, their
 * texts are asked for, and nothing else's.  The aggregate has each word once and is what
 * postgres_fdw ships; the function has those of one row, for whoever can't ship it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "api/node.h"

PG_FUNCTION_INFO_V1(dpngram_exact_words_add);
PG_FUNCTION_INFO_V1(dpngram_exact_words_end);
PG_FUNCTION_INFO_V1(dpngram_exact_row_words);

typedef struct WordsState
{
	MemoryContext context;
	NodeCounter *counter;
	text **word; /* by number - 1; NULL where none was met */
	List *more;	 /* others that share a key with one of these */
} WordsState;

static WordsState *
words_state_create(NodeCounter *counter)
{
	WordsState *state = palloc(sizeof(WordsState));
	const NodeSpec *spec = node_counter_spec(counter);

	if (spec->level != 2)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("this specification does not ask for words")));
	state->context = CurrentMemoryContext;
	state->counter = counter;
	state->more = NIL;
	state->word = MemoryContextAllocExtended(CurrentMemoryContext,
											 Max(spec->n[1], 1) * sizeof(text *),
											 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	return state;
}

static bool
is_word(const text *known, const char *word, int len)
{
	return VARSIZE_ANY_EXHDR(known) == (Size) len && memcmp(VARDATA_ANY(known), word, len) == 0;
}

/*
 * Words that share a key are all told: which of them is meant the coordinator sees by their
 * contents.
 */
static void
take_word(void *arg, uint32 number, const char *word, int len)
{
	WordsState *state = arg;
	text **known = &state->word[number - 1];
	MemoryContext old;
	ListCell *cell;

	if (*known != NULL && is_word(*known, word, len))
		return;
	foreach (cell, state->more)
		if (is_word(lfirst(cell), word, len))
			return;
	old = MemoryContextSwitchTo(state->context);
	if (*known == NULL)
		*known = cstring_to_text_with_len(word, len);
	else
		state->more = lappend(state->more, cstring_to_text_with_len(word, len));
	MemoryContextSwitchTo(old);
}

/* The words that were met, as an array of texts. */
static Datum
words_array(const WordsState *state)
{
	uint32 n = node_counter_spec(state->counter)->n[1];
	ArrayBuildState *array = initArrayResult(TEXTOID, CurrentMemoryContext, false);
	ListCell *cell;

	foreach (cell, state->more)
		array = accumArrayResult(array, PointerGetDatum(lfirst(cell)), false, TEXTOID,
								 CurrentMemoryContext);
	for (uint32 i = 0; i < n; i++)
		if (state->word[i] != NULL)
			array = accumArrayResult(array, PointerGetDatum(state->word[i]), false, TEXTOID,
									 CurrentMemoryContext);
	return makeArrayResult(array, CurrentMemoryContext);
}

Datum
dpngram_exact_words_add(PG_FUNCTION_ARGS)
{
	MemoryContext context = node_aggregate_context(fcinfo);
	WordsState *state = node_aggregate_state(fcinfo);

	CHECK_FOR_INTERRUPTS();
	if (state == NULL)
	{
		MemoryContext old;

		if (PG_ARGISNULL(ARG_SPEC))
			PG_RETURN_NULL();
		old = MemoryContextSwitchTo(context);
		state = words_state_create(node_counter_of(fcinfo, ARG_SPEC));
		MemoryContextSwitchTo(old);
	}
	if (!PG_ARGISNULL(ARG_TEXT))
		node_words(state->counter, PG_GETARG_DATUM(ARG_TEXT), take_word, state);
	PG_RETURN_POINTER(state);
}

Datum
dpngram_exact_words_end(PG_FUNCTION_ARGS)
{
	(void) node_aggregate_context(fcinfo);
	if (PG_ARGISNULL(ARG_STATE))
		PG_RETURN_NULL();
	return words_array((WordsState *) PG_GETARG_POINTER(ARG_STATE));
}

/* A word of a row, which may have it again. */
static void
take_row_word(void *arg, uint32 number, const char *word, int len)
{
	ArrayBuildState *array = arg;

	(void) accumArrayResult(array, PointerGetDatum(cstring_to_text_with_len(word, len)), false,
							TEXTOID, CurrentMemoryContext);
}

Datum
dpngram_exact_row_words(PG_FUNCTION_ARGS)
{
	NodeCounter *counter = node_counter_of(fcinfo, 0);
	ArrayBuildState *array;

	if (node_counter_spec(counter)->level != 2)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("this specification does not ask for words")));
	array = initArrayResult(TEXTOID, CurrentMemoryContext, false);
	node_words(counter, PG_GETARG_DATUM(2), take_row_word, array);
	return makeArrayResult(array, CurrentMemoryContext);
}
