/*
 * node.c
 *	  What a node counts for a coordinator, as SQL functions: the pieces of statements
 *	  that source_pushdown.c writes.
 *
 * exact_counts() takes the rows of many users in any order: what a row has to say is
 * grouped by user as the texts of a local call are, in temporary files beyond the memory
 * limit, and added up in a histogram, which does the same.  Being one whole aggregate over
 * one table, it is what postgres_fdw ships.
 * exact_user_counts() takes the rows of one user, under GROUP BY: that is what goes to the
 * nodes of a table that is distributed by user, with ordinary sums above it.
 *
 * Nothing here is private: sums are exact.  So EXECUTE is not PUBLIC's.  But no function
 * tells a caller more than what the caller reads for it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "api/node.h"
#include "compat.h"
#include "ngram/documents.h"
#include "ngram/extract.h"
#include "ngram/node_pack.h"
#include "ngram/walk.h"

PG_FUNCTION_INFO_V1(dpngram_exact_counts_add);
PG_FUNCTION_INFO_V1(dpngram_exact_counts_end);
PG_FUNCTION_INFO_V1(dpngram_exact_user_counts_add);
PG_FUNCTION_INFO_V1(dpngram_exact_user_counts_end);
PG_FUNCTION_INFO_V1(dpngram_unpacked_counts);

/* exact_counts(): the rows of all users */
typedef struct CountsState
{
	NodeCounter *counter;
	Documents *documents; /* NULL when they are grouped */
	Corpus *corpus;
	uint32 *words; /* of a row's n-grams; reused */
	Size capacity;
	Histogram *histogram;
} CountsState;

/* exact_user_counts(): the rows of one user */
typedef struct UserState
{
	NodeCounter *counter;
	Datum user;
	int64 positions;
	ItemList list;
} UserState;

/* ------------------------------------------------------------------------
 * arguments
 * ------------------------------------------------------------------------ */

static bool
is_constant(FunctionCallInfo fcinfo, int n)
{
	Aggref *aggregate = AggGetAggref(fcinfo);
	Expr *argument;

	if (aggregate == NULL)
		return get_fn_expr_arg_stable(fcinfo->flinfo, n);
	argument = linitial_node(TargetEntry, aggregate->args)->expr;
	return IsA(argument, Const) ||
		   (IsA(argument, Param) && ((Param *) argument)->paramkind == PARAM_EXTERN);
}

/*
 * What this session meets from here to the transaction's end is told neither by its statistics,
 * which any role may read, nor by its log's lines on failed statements; in parallel plans it can't
 * be helped.
 */
static void
count_quietly(void)
{
	static const char *const settings[][2] = {{"track_counts", "off"},
											  {"log_temp_files", "-1"},
											  {"log_min_error_statement", "panic"}};

	if (IsInParallelMode())
		return;
	for (int i = 0; i < (int) lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_SESSION,
								 GUC_ACTION_LOCAL, true, 0, false);
}

/*
 * The counter of a query, made at its first row; "first" is the number of the first of the
 * arguments (spec, person, document).  The specification must
 * be the same for all rows by the very form of the query: comparing it would cost more
 * than all the rest.
 */
NodeCounter *
node_counter_of(FunctionCallInfo fcinfo, int first)
{
	MemoryContext old;
	bytea *spec;

	if (fcinfo->flinfo->fn_extra != NULL)
		return fcinfo->flinfo->fn_extra;
	if (!is_constant(fcinfo, first))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("the specification of what to count must be a constant")));
	count_quietly();
	old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	spec = PG_GETARG_BYTEA_PP(first);
	fcinfo->flinfo->fn_extra =
		node_counter_create(node_spec_parse(VARDATA_ANY(spec), VARSIZE_ANY_EXHDR(spec)),
							get_fn_expr_argtype(fcinfo->flinfo, first + 1), PG_GET_COLLATION(),
							get_fn_expr_argtype(fcinfo->flinfo, first + 2));
	MemoryContextSwitchTo(old);
	return fcinfo->flinfo->fn_extra;
}

MemoryContext
node_aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (AggCheckCallContext(fcinfo, &context) != AGG_CONTEXT_AGGREGATE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this function counts in a plain aggregate alone, not in a window")));
	return context;
}

/* Is there anything in this row? */
static bool
row_counts(FunctionCallInfo fcinfo)
{
	return !PG_ARGISNULL(ARG_SPEC) && !PG_ARGISNULL(ARG_USER) && !PG_ARGISNULL(ARG_TEXT);
}

static Datum
user_argument(FunctionCallInfo fcinfo, const NodeCounter *counter)
{
	return user_value(node_users(counter), PG_GETARG_DATUM(ARG_USER));
}

/* ------------------------------------------------------------------------
 * exact_counts(spec, person, document)
 * ------------------------------------------------------------------------ */

/*
 * In a corpus a word is an escape; a longer n-gram has its two numbers as they are, which
 * are never 0.
 */
#define PAIR_WORDS 2

static void
free_counts(Datum arg)
{
	CountsState *state = (CountsState *) DatumGetPointer(arg);

	if (state->documents != NULL)
		documents_group(state->documents, state->corpus);
	if (state->corpus != NULL)
		corpus_free(state->corpus);
	state->documents = NULL;
	state->corpus = NULL;
}

static CountsState *
counts_state_create(FunctionCallInfo fcinfo)
{
	CountsState *state = palloc0(sizeof(CountsState));

	state->counter = node_counter_of(fcinfo, ARG_SPEC);
	state->corpus = corpus_create(extract_memory_limit(), false);
	state->documents = documents_create(node_users(state->counter), corpus_room(state->corpus));
	state->capacity = 1024;
	state->words = palloc(state->capacity * sizeof(uint32));
	AggRegisterCallback(fcinfo, free_counts, PointerGetDatum(state));
	return state;
}

static Size
words_of(CountsState *state, const ItemKey *item, Size n)
{
	bool pairs = node_counter_spec(state->counter)->level > 1;
	Size needed = n * (pairs ? PAIR_WORDS : CORPUS_WIDE_WORDS);
	uint32 *to;

	if (needed > state->capacity)
	{
		state->capacity = 2 * needed;
		state->words = repalloc_huge(state->words, state->capacity * sizeof(uint32));
	}
	to = state->words;
	for (Size i = 0; i < n; i++)
	{
		if (pairs)
		{
			*to++ = (uint32) (item[i].key >> 32);
			*to++ = (uint32) item[i].key;
			continue;
		}
		*to++ = CORPUS_WIDE;
		memcpy(to, &item[i], sizeof(ItemKey));
		to += CORPUS_WIDE_WORDS - 1;
	}
	return needed;
}

/* The row is kept also where it has no n-gram: its positions may make its user too long. */
static void
add_row(CountsState *state, Datum user, Datum text)
{
	uint64 hash = node_user_hash(state->counter, user);
	const ItemKey *item;
	Size n;
	int64 positions = node_document(state->counter, text, &item, &n);

	if (positions == 0)
		return;
	if (positions > CORPUS_MAX_USER_TOKENS)
		n = 0; /* that there was such a document is enough */
	n = words_of(state, item, n);
	documents_add(state->documents, hash, user, state->words, (uint32) n,
				  (uint32) Min(positions, CORPUS_MAX_USER_TOKENS + 1));
}

Datum
dpngram_exact_counts_add(PG_FUNCTION_ARGS)
{
	MemoryContext context = node_aggregate_context(fcinfo);
	CountsState *state = node_aggregate_state(fcinfo);

	CHECK_FOR_INTERRUPTS();
	if (state == NULL)
	{
		MemoryContext old;

		if (PG_ARGISNULL(ARG_SPEC))
			PG_RETURN_NULL();
		old = MemoryContextSwitchTo(context);
		state = counts_state_create(fcinfo);
		MemoryContextSwitchTo(old);
	}
	if (row_counts(fcinfo))
		add_row(state, user_argument(fcinfo, state->counter), PG_GETARG_DATUM(ARG_TEXT));
	PG_RETURN_POINTER(state);
}

static void
add_weight(void *arg, ItemKey item, int64 weight)
{
	histogram_add(((CountsState *) arg)->histogram, item, weight);
}

/* A user's n-grams, as words_of() wrote them, with boundaries between documents. */
static void
take_items(const CountsState *state, const CorpusUser *user, ItemList *list)
{
	int level = node_counter_spec(state->counter)->level;
	const uint32 *at = user->id;
	const uint32 *end = at + user->n;

	while (at < end)
	{
		ItemKey item;

		if (*at == 0)
		{
			at++;
			continue;
		}
		if (level == 1)
		{
			memcpy(&item, at + 1, sizeof(ItemKey));
			at += CORPUS_WIDE_WORDS;
		}
		else
		{
			item = level_item((uint64) at[0] << 32 | at[1], level);
			at += PAIR_WORDS;
		}
		item_list_add(list, item.key, item.content);
	}
}

/* All rows, grouped: each user's n-grams into the histogram. */
static void
add_users(CountsState *state)
{
	CorpusScan scan;
	CorpusUser user;
	ItemList list;

	documents_group(state->documents, state->corpus);
	state->documents = NULL;
	item_list_init(&list);
	corpus_scan_begin(&scan, state->corpus, false);
	while (corpus_scan_next(&scan, &user))
	{
		node_begin_user(state->counter, &list, user.hash);
		take_items(state, &user, &list);
		node_contribute(state->counter, &list, 0, add_weight, state);
	}
	corpus_scan_end(&scan);
	item_list_free(&list);
}

static void
list_sum(void *arg, const HistogramEntry *entry)
{
	weight_list_add(arg, entry->key, entry->weight);
}

Datum
dpngram_exact_counts_end(PG_FUNCTION_ARGS)
{
	MemoryContext old = MemoryContextSwitchTo(node_aggregate_context(fcinfo));
	CountsState *state;
	WeightList list;
	bytea *packed;
	int level;

	if (PG_ARGISNULL(ARG_STATE))
	{
		MemoryContextSwitchTo(old);
		PG_RETURN_NULL();
	}
	state = (CountsState *) PG_GETARG_POINTER(ARG_STATE);
	level = node_counter_spec(state->counter)->level;
	state->histogram = histogram_create(extract_count_memory(extract_memory_limit(), level));
	add_users(state);
	free_counts(PointerGetDatum(state));
	weight_list_init(&list);
	histogram_consume(state->histogram, list_sum, &list);
	MemoryContextSwitchTo(old);
	packed = weight_list_pack(&list, level);
	weight_list_free(&list);
	PG_RETURN_BYTEA_P(packed);
}

/* ------------------------------------------------------------------------
 * exact_user_counts(spec, person, document)
 * ------------------------------------------------------------------------ */

static UserState *
user_state_create(FunctionCallInfo fcinfo)
{
	UserState *state = palloc0(sizeof(UserState));
	const UserType *users;
	Datum user;

	state->counter = node_counter_of(fcinfo, ARG_SPEC);
	users = node_users(state->counter);
	user = user_argument(fcinfo, state->counter);
	state->user = datumCopy(user, users->entry->typbyval, users->entry->typlen);
	item_list_init(&state->list);
	node_begin_user(state->counter, &state->list, node_user_hash(state->counter, user));
	return state;
}

Datum
dpngram_exact_user_counts_add(PG_FUNCTION_ARGS)
{
	MemoryContext context = node_aggregate_context(fcinfo);
	UserState *state = node_aggregate_state(fcinfo);
	const ItemKey *item;
	int64 positions;
	Size n;
	MemoryContext old;

	CHECK_FOR_INTERRUPTS();
	if (!row_counts(fcinfo))
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	if (state == NULL)
	{
		old = MemoryContextSwitchTo(context);
		state = user_state_create(fcinfo);
		MemoryContextSwitchTo(old);
	}
	else if (!same_user(node_users(state->counter), state->user,
						user_argument(fcinfo, state->counter)))
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("exact_user_counts takes the rows of one person"),
				 errhint("Group the rows by person.")));
	positions = node_document(state->counter, PG_GETARG_DATUM(ARG_TEXT), &item, &n);
	state->positions += positions == 0 ? 0 : positions + 1;
	old = MemoryContextSwitchTo(context);
	for (Size i = 0; i < n; i++)
		item_list_add(&state->list, item[i].key, item[i].content);
	MemoryContextSwitchTo(old);
	PG_RETURN_POINTER(state);
}

static void
list_weight(void *arg, ItemKey item, int64 weight)
{
	weight_list_add(arg, item, weight);
}

Datum
dpngram_exact_user_counts_end(PG_FUNCTION_ARGS)
{
	MemoryContext old;
	UserState *state;
	WeightList list;

	if (PG_ARGISNULL(ARG_STATE))
		PG_RETURN_NULL();
	old = MemoryContextSwitchTo(node_aggregate_context(fcinfo));
	state = (UserState *) PG_GETARG_POINTER(ARG_STATE);
	weight_list_init(&list);
	node_contribute(state->counter, &state->list, state->positions, list_weight, &list);
	item_list_free(&state->list);
	MemoryContextSwitchTo(old);
	PG_RETURN_BYTEA_P(weight_list_pack(&list, node_counter_spec(state->counter)->level));
}

/* ------------------------------------------------------------------------
 * unpacked_counts(counts)
 * ------------------------------------------------------------------------ */

Datum
dpngram_unpacked_counts(PG_FUNCTION_ARGS)
{
	FuncCallContext *context;
	WeightedItem next;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;
		PackedWeights *packed;
		bytea *counts;
		TupleDesc row;

		context = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(context->multi_call_memory_ctx);
		if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
			elog(ERROR, "return type must be a row type");
		context->tuple_desc = BlessTupleDesc(row);
		counts = PG_GETARG_BYTEA_P_COPY(0);
		packed = palloc(sizeof(PackedWeights));
		packed_weights_begin(packed, VARDATA(counts), VARSIZE(counts) - VARHDRSZ);
		context->user_fctx = packed;
		MemoryContextSwitchTo(old);
	}
	context = SRF_PERCALL_SETUP();
	if (packed_weights_next(context->user_fctx, &next))
	{
		Datum values[3] = {Int64GetDatum((int64) next.item.key),
						   Int64GetDatum((int64) next.item.content),
						   Int64GetDatum(next.weight)};
		bool nulls[3] = {false};
		HeapTuple tuple = heap_form_tuple(context->tuple_desc, values, nulls);

		SRF_RETURN_NEXT(context, HeapTupleGetDatum(tuple));
	}
	SRF_RETURN_DONE(context);
}
