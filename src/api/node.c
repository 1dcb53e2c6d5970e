/*
 * node.c
 *	  What a node counts for a coordinator, as SQL functions: the pieces of statements
 *	  that source_pushdown.c writes.
 *
 * exact_counts() takes the rows of many users in any order: what a row has to say is
 * sorted by user, in temporary files beyond work_mem, and added up in a histogram, which
 * does the same.  Being one whole aggregate over one table, it is what postgres_fdw ships.
 * exact_user_counts() takes the rows of one user, under GROUP BY: that is what goes to the
 * nodes of a table that is distributed by user, with ordinary sums above it.
 *
 * Nothing here is private: sums are exact.  So EXECUTE is not PUBLIC's.  But no function
 * tells a caller more than what the caller reads for it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#include "api/node.h"
#include "compat.h"
#include "ngram/extract.h"
#include "ngram/node_pack.h"

PG_FUNCTION_INFO_V1(dpngram_exact_counts_add);
PG_FUNCTION_INFO_V1(dpngram_exact_counts_end);
PG_FUNCTION_INFO_V1(dpngram_exact_user_counts_add);
PG_FUNCTION_INFO_V1(dpngram_exact_user_counts_end);
PG_FUNCTION_INFO_V1(dpngram_unpacked_counts);

/* Columns of what is sorted, from 1. */
enum
{
	SORT_USER = 1,
	SORT_POSITIONS,
	SORT_ITEMS,
	SORT_COLUMNS = SORT_ITEMS
};

/* exact_counts(): the rows of all users */
typedef struct CountsState
{
	NodeCounter *counter;
	Tuplesortstate *sort;
	TupleTableSlot *row;  /* on its way in */
	TupleTableSlot *slot; /* and out */
	bytea *items;		  /* of a row; reused */
	Size items_capacity;

	/* while users are added up */
	ItemList list;
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
		elog(ERROR, "called outside of an aggregate");
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

static void
end_sort(Datum arg)
{
	CountsState *state = (CountsState *) DatumGetPointer(arg);

	if (state->sort != NULL)
		tuplesort_end(state->sort);
	state->sort = NULL;
}

static CountsState *
counts_state_create(FunctionCallInfo fcinfo)
{
	CountsState *state = palloc0(sizeof(CountsState));
	TupleDesc row = CreateTemplateTupleDesc(SORT_COLUMNS);
	UserType users;
	TypeCacheEntry *type;
	AttrNumber column = SORT_USER;
	bool nulls_first = false;

	state->counter = node_counter_of(fcinfo, ARG_SPEC);
	users = *node_users(state->counter);
	type = lookup_type_cache(users.type, TYPECACHE_LT_OPR);
	TupleDescInitEntry(row, SORT_USER, "person", users.type, -1, 0);
	TupleDescInitEntry(row, SORT_POSITIONS, "positions", INT8OID, -1, 0);
	TupleDescInitEntry(row, SORT_ITEMS, "items", BYTEAOID, -1, 0);
	state->row = MakeSingleTupleTableSlot(row, &TTSOpsVirtual);
	state->slot = MakeSingleTupleTableSlot(row, &TTSOpsMinimalTuple);
	state->sort = tuplesort_begin_heap(row, 1, &column, &type->lt_opr, &users.collation,
									   &nulls_first, work_mem, NULL, TUPLESORT_NONE);
	state->items_capacity = 1024;
	state->items = palloc(state->items_capacity);
	AggRegisterCallback(fcinfo, end_sort, PointerGetDatum(state));
	return state;
}

/* A row's n-grams as one value, valid until the next. */
static Datum
items_datum(CountsState *state, const ItemKey *item, Size n)
{
	Size size = VARHDRSZ + n * sizeof(ItemKey);

	if (size > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("a document is too long")));
	if (size > state->items_capacity)
	{
		state->items_capacity = Min(2 * size, MaxAllocSize);
		state->items = repalloc(state->items, state->items_capacity);
	}
	SET_VARSIZE(state->items, size);
	if (n > 0)
		memcpy(VARDATA(state->items), item, n * sizeof(ItemKey));
	return PointerGetDatum(state->items);
}

/* The row is kept also where it has no n-gram: its positions may make its user too long. */
static void
add_row(CountsState *state, Datum user, Datum text)
{
	TupleTableSlot *slot = state->row;
	const ItemKey *item;
	Size n;
	int64 positions = node_document(state->counter, text, &item, &n);

	if (positions == 0)
		return;
	ExecClearTuple(slot);
	slot->tts_values[SORT_USER - 1] = user;
	slot->tts_values[SORT_POSITIONS - 1] = Int64GetDatum(positions);
	slot->tts_values[SORT_ITEMS - 1] = items_datum(state, item, n);
	memset(slot->tts_isnull, 0, SORT_COLUMNS * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(state->sort, slot);
	ExecClearTuple(slot);
}

Datum
dpngram_exact_counts_add(PG_FUNCTION_ARGS)
{
	MemoryContext context = node_aggregate_context(fcinfo);
	CountsState *state = node_aggregate_state(fcinfo);
	Datum user;

	CHECK_FOR_INTERRUPTS();
	if (state == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		if (PG_ARGISNULL(ARG_SPEC))
			PG_RETURN_NULL();
		state = counts_state_create(fcinfo);
		MemoryContextSwitchTo(old);
	}
	if (!row_counts(fcinfo))
		PG_RETURN_POINTER(state);
	user = user_argument(fcinfo, state->counter);
	(void) node_user_hash(state->counter, user);
	add_row(state, user, PG_GETARG_DATUM(ARG_TEXT));
	PG_RETURN_POINTER(state);
}

static void
add_weight(void *arg, ItemKey item, int64 weight)
{
	histogram_add(((CountsState *) arg)->histogram, item, weight);
}

/* The n-grams of a sorted row. */
static void
take_items(CountsState *state, TupleTableSlot *slot)
{
	bool isnull;
	bytea *items = DatumGetByteaPP(slot_getattr(slot, SORT_ITEMS, &isnull));
	Size n = VARSIZE_ANY_EXHDR(items) / sizeof(ItemKey);
	const char *from = VARDATA_ANY(items);

	for (Size i = 0; i < n; i++)
	{
		ItemKey item;

		memcpy(&item, from + i * sizeof(ItemKey), sizeof(ItemKey));
		item_list_add(&state->list, item.key, item.content);
	}
}

/* All rows in the order of their users: each user's n-grams into the histogram. */
static void
add_users(CountsState *state)
{
	const UserType *users = node_users(state->counter);
	MemoryContext user_context = AllocSetContextCreate(CurrentMemoryContext, "dpngram user",
													   ALLOCSET_SMALL_SIZES);
	Datum user = (Datum) 0;
	bool any = false;
	int64 positions = 0;

	item_list_init(&state->list);
	tuplesort_performsort(state->sort);
	while (tuplesort_gettupleslot(state->sort, true, false, state->slot, NULL))
	{
		bool isnull;
		Datum next = slot_getattr(state->slot, SORT_USER, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (!any || !same_user(users, user, next))
		{
			MemoryContext old;

			if (any)
				node_contribute(state->counter, &state->list, positions, add_weight, state);
			MemoryContextReset(user_context);
			old = MemoryContextSwitchTo(user_context);
			user = datumCopy(next, users->entry->typbyval, users->entry->typlen);
			MemoryContextSwitchTo(old);
			node_begin_user(state->counter, &state->list, node_user_hash(state->counter, user));
			positions = 0;
			any = true;
		}
		positions += DatumGetInt64(slot_getattr(state->slot, SORT_POSITIONS, &isnull));
		take_items(state, state->slot);
	}
	if (any)
		node_contribute(state->counter, &state->list, positions, add_weight, state);
	MemoryContextDelete(user_context);
	item_list_free(&state->list);
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

	if (PG_ARGISNULL(ARG_STATE))
	{
		MemoryContextSwitchTo(old);
		PG_RETURN_NULL();
	}
	state = (CountsState *) PG_GETARG_POINTER(ARG_STATE);
	state->histogram = histogram_create(extract_memory_limit());
	add_users(state);
	end_sort(PointerGetDatum(state));
	weight_list_init(&list);
	histogram_consume(state->histogram, list_sum, &list);
	MemoryContextSwitchTo(old);
	packed = weight_list_pack(&list, node_counter_spec(state->counter)->level);
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
	state->positions += node_document(state->counter, PG_GETARG_DATUM(ARG_TEXT), &item, &n);
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
