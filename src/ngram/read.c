/*
 * read.c
 *	  From the relation's rows to token ids: one query, run as the dataset's
 *	  owner, whose rows go straight to whoever counts them.
 *
 * Rows are read by SPI and not by a table scan of our own, so that views,
 * partitions, foreign tables, privileges and row-level security all work as
 * they do for everyone.  A DestReceiver takes them one by one: nothing is
 * collected, and no cursor is paid for.
 *
 * What protects whom:
 *
 * - The owner from the analyst.  The query runs under the owner's rights, so
 *	 whatever the analyst can bend must be straightened first: the search_path
 *	 (an unqualified function in the owner's view would else be the analyst's),
 *	 and the other settings in read_settings[].  The operation is
 *	 security-restricted, as REFRESH MATERIALIZED VIEW is.  In a trigger that a
 *	 foreign key's cascade has fired, FORCE ROW LEVEL SECURITY would be off; it
 *	 is put back on.
 * - The analyst from the owner: the same restriction.
 * - The users.  All rows of one user must arrive together, else the bound on a
 *	 user's contribution holds for each part and not for the user.  The query
 *	 orders them, and the receiver checks the order by the type's own
 *	 comparison, because an index that a new collation version has corrupted,
 *	 or a remote server that sorts in another way, would break it silently.
 *
 * Messages below ERROR are off during the read, but for INFO, which no setting
 * stops: keeping that from the client is the caller's part.  Errors are not
 * caught here either: the caller masks them (their text may hold data), and
 * aborting the transaction or subtransaction restores role and settings.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "ngram/read.h"
#include "nodes/params.h"
#include "parser/parse_node.h"
#include "parser/parsetree.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

/* Columns of the query, from 1. */
#define USER_COLUMN 1
#define TEXT_COLUMN 2

/* Parameters of the query, from 1. */
#define TIME_FROM 1
#define TIME_TO 2

typedef struct ReadReceiver
{
	DestReceiver pub;
	const ReadSink *sink;
	Tokenizer *tokenizer;
	MemoryContext row_context; /* reset after each row */

	/* the user whose rows are arriving */
	TypeCacheEntry *type;
	Oid collation;
	MemoryContext user_context; /* reset at each new user */
	bool has_user;
	bool every_user;
	bool opened; /* the sink knows of this user */
	Datum user;
	uint64 user_hash;

	/* the document being cut; held back while it may turn out too long */
	int max_tokens;
	int64 tokens;
	uint32 *held; /* ids, and 0 for a boundary */
	Size held_n;
	Size held_capacity;
} ReadReceiver;

/* ---- documents ---- */

static inline void
open_user(ReadReceiver *receiver)
{
	if (!receiver->opened)
		receiver->sink->begin_user(receiver->sink->state, receiver->user_hash);
	receiver->opened = true;
}

/* Hands an id to the sink; 0 is a boundary.  The first opens the user. */
static inline void
store_id(ReadReceiver *receiver, uint32 id)
{
	const ReadSink *sink = receiver->sink;

	if (id == 0)
	{
		if (receiver->opened)
			sink->end_document(sink->state);
		return;
	}
	open_user(receiver);
	sink->add_token(sink->state, id);
}

/* Holds an id back; boundaries in a row are one. */
static void
hold_id(ReadReceiver *receiver, uint32 id)
{
	if (id == 0 && (receiver->held_n == 0 || receiver->held[receiver->held_n - 1] == 0))
		return;
	if (receiver->held_n == receiver->held_capacity)
	{
		receiver->held_capacity *= 2;
		receiver->held = repalloc_huge(receiver->held,
									   receiver->held_capacity * sizeof(uint32));
	}
	receiver->held[receiver->held_n++] = id;
}

/* The TokenSink of the tokenizer. */
static void
take_token(void *state, const char *token, int len)
{
	ReadReceiver *receiver = state;
	const ReadSink *sink = receiver->sink;

	if (receiver->max_tokens == 0)
		store_id(receiver, token == NULL ? 0 : sink->token_id(sink->state, token, len));
	else if (token == NULL)
		hold_id(receiver, 0);
	else if (receiver->tokens <= receiver->max_tokens &&
			 ++receiver->tokens <= receiver->max_tokens)
		hold_id(receiver, sink->token_id(sink->state, token, len));
}

/* One row's text: a document. */
static void
take_document(ReadReceiver *receiver, Datum text)
{
	receiver->tokens = 0;
	receiver->held_n = 0;
	tokenize(receiver->tokenizer, text, take_token, receiver);
	if (receiver->tokens <= receiver->max_tokens)
	{
		for (Size i = 0; i < receiver->held_n; i++)
			store_id(receiver, receiver->held[i]);
	}
	store_id(receiver, 0);
}

/* ---- users ---- */

static void
end_user(ReadReceiver *receiver)
{
	if (receiver->opened)
		receiver->sink->end_user(receiver->sink->state);
	receiver->opened = false;
	receiver->has_user = false;
}

/*
 * A hash that equal users share, by the type's extended hash function.  Users of
 * the few types that are ordered but not hashed all get the same one, and so keep
 * n-grams by one order: the value's text would do for most of those types, but
 * need not be the same for equal values.
 */
static uint64
hash_user(ReadReceiver *receiver, Datum user)
{
	FmgrInfo *function = &receiver->type->hash_extended_proc_finfo;

	if (!OidIsValid(function->fn_oid))
		return 0;
	return DatumGetUInt64(FunctionCall2Coll(function, receiver->collation, user,
											UInt64GetDatum(0)));
}

static void
begin_user(ReadReceiver *receiver, Datum user)
{
	MemoryContext old;

	receiver->user_hash = hash_user(receiver, user);
	MemoryContextReset(receiver->user_context);
	old = MemoryContextSwitchTo(receiver->user_context);
	receiver->user = datumCopy(user, receiver->type->typbyval, receiver->type->typlen);
	receiver->has_user = true;
	MemoryContextSwitchTo(old);
	if (receiver->every_user)
		open_user(receiver);
}

/* Is this row of the user whose rows are arriving?  Raises an error where users don't ascend. */
static bool
same_user(ReadReceiver *receiver, Datum user)
{
	TypeCacheEntry *type = receiver->type;
	int order;

	if (!receiver->has_user)
		return false;
	if (datumIsEqual(receiver->user, user, type->typbyval, type->typlen))
		return true;
	order = DatumGetInt32(FunctionCall2Coll(&type->cmp_proc_finfo, receiver->collation,
											receiver->user, user));
	if (order > 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("rows did not arrive in the order of their users"),
				 errhint("An index may be corrupt, or a foreign server may sort differently.")));
	return order == 0;
}

/* ---- the receiver ---- */

static void
receive_startup(DestReceiver *self, int operation, TupleDesc descriptor)
{
	ReadReceiver *receiver = (ReadReceiver *) self;
	Form_pg_attribute user = TupleDescAttr(descriptor, USER_COLUMN - 1);

	receiver->collation = user->attcollation;
	receiver->type = lookup_type_cache(getBaseType(user->atttypid),
									   TYPECACHE_CMP_PROC_FINFO |
										   TYPECACHE_HASH_EXTENDED_PROC_FINFO);
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	ReadReceiver *receiver = (ReadReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(receiver->row_context);
	bool no_user;
	bool no_text;
	Datum user = slot_getattr(slot, USER_COLUMN, &no_user);
	Datum text = slot_getattr(slot, TEXT_COLUMN, &no_text);

	CHECK_FOR_INTERRUPTS();
	if (!no_user && (!no_text || receiver->every_user))
	{
		if (receiver->type->typlen == -1)
			user = PointerGetDatum(PG_DETOAST_DATUM_PACKED(user));
		if (!same_user(receiver, user))
		{
			end_user(receiver);
			begin_user(receiver, user);
		}
		if (!no_text)
			take_document(receiver, text);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->row_context);
	return true;
}

static void
receive_shutdown(DestReceiver *self)
{
	end_user((ReadReceiver *) self);
}

static void
receive_destroy(DestReceiver *self)
{
}

static ReadReceiver *
receiver_create(const ReadSpec *spec, const ReadSink *sink)
{
	ReadReceiver *receiver = palloc0(sizeof(ReadReceiver));

	receiver->pub.receiveSlot = receive_row;
	receiver->pub.rStartup = receive_startup;
	receiver->pub.rShutdown = receive_shutdown;
	receiver->pub.rDestroy = receive_destroy;
	/* what it says doesn't matter, but for DestNone SPI reports no SELECT */
	receiver->pub.mydest = DestTuplestore;
	receiver->sink = sink;
	receiver->tokenizer = spec->tokenizer;
	receiver->max_tokens = spec->max_tokens;
	receiver->every_user = spec->every_user;
	receiver->row_context = AllocSetContextCreate(CurrentMemoryContext, "dpngram row",
												  ALLOCSET_DEFAULT_SIZES);
	receiver->user_context = AllocSetContextCreate(CurrentMemoryContext, "dpngram user",
												   ALLOCSET_SMALL_SIZES);
	receiver->held_capacity = 1024;
	receiver->held = palloc(receiver->held_capacity * sizeof(uint32));
	return receiver;
}

/* ---- the query ---- */

/*
 * The query's text.  "IS DISTINCT FROM NULL", because IS NOT NULL is false for
 * a row value with one NULL field.
 *
 * Any order will do that brings equal users together.  For a deterministic
 * collation, where equal is equal bytes, that is the order of bytes: several
 * times faster than the locale's, and independent of its version and of
 * indexes built under another.
 *
 * A row whose time is NULL is in no period.  The bounds of time are parameters of the
 * column's own type, compared as they are, so that an index on it or partitions by it
 * are of use.
 */
static char *
query_text(const ReadSpec *spec)
{
	const char *user = quote_identifier(get_attname(spec->relid, spec->user_attnum, false));
	const char *text = quote_identifier(get_attname(spec->relid, spec->text_attnum, false));
	char *schema = get_namespace_name(get_rel_namespace(spec->relid));
	char *relation = get_rel_name(spec->relid);
	Oid type;
	int32 typmod;
	Oid collation;
	StringInfoData query;

	if (schema == NULL || relation == NULL)
		elog(ERROR, "cache lookup failed for relation %u", spec->relid);
	get_atttypetypmodcoll(spec->relid, spec->user_attnum, &type, &typmod, &collation);

	initStringInfo(&query);
	appendStringInfo(&query, "SELECT r.%s", user);
	if (OidIsValid(collation) && get_collation_isdeterministic(collation))
		appendStringInfoString(&query, " COLLATE pg_catalog.\"C\"");
	appendStringInfo(&query,
					 ", r.%s FROM %s r WHERE r.%s IS DISTINCT FROM NULL",
					 text, quote_qualified_identifier(schema, relation), user);
	if (!spec->every_user)
		appendStringInfo(&query, " AND r.%s IS DISTINCT FROM NULL", text);
	if (spec->time_attnum != 0)
	{
		const char *time = quote_identifier(get_attname(spec->relid, spec->time_attnum, false));

		appendStringInfo(&query,
						 " AND r.%s OPERATOR(pg_catalog.>=) $%d"
						 " AND r.%s OPERATOR(pg_catalog.<) $%d",
						 time, TIME_FROM, time, TIME_TO);
	}
	appendStringInfoString(&query, " ORDER BY 1");
	return query.data;
}

/*
 * Called for each column that the parser has found: is it one of ours?  The
 * relation is locked, but not its schema, which could have been renamed, and
 * another one given its name, after query_text() asked for it.  And the lock is the
 * session's own: functions that it calls could have altered the column's type.
 */
static Node *
check_column(ParseState *pstate, ColumnRef *reference, Node *found)
{
	const ReadSpec *spec = pstate->p_ref_hook_state;

	if (found != NULL && IsA(found, Var))
	{
		Var *var = (Var *) found;
		RangeTblEntry *rte = rt_fetch(var->varno, pstate->p_rtable);

		if (var->varlevelsup == 0 && rte->rtekind == RTE_RELATION &&
			rte->relid == spec->relid &&
			(var->varattno == spec->user_attnum ||
			 (var->varattno == spec->text_attnum && var->vartype == spec->text_type) ||
			 (spec->time_attnum != 0 && var->varattno == spec->time_attnum)))
			return NULL;
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the relation was changed while it was being read")));
}

static Oid
time_type(const ReadSpec *spec)
{
	return getBaseType(get_atttype(spec->relid, spec->time_attnum));
}

/* Called for $1 and $2, the bounds of time. */
static Node *
make_parameter(ParseState *pstate, ParamRef *reference)
{
	Param *parameter = makeNode(Param);

	parameter->paramkind = PARAM_EXTERN;
	parameter->paramid = reference->number;
	parameter->paramtype = time_type(pstate->p_ref_hook_state);
	parameter->paramtypmod = -1;
	parameter->paramcollid = InvalidOid;
	parameter->location = reference->location;
	return (Node *) parameter;
}

static ParamListInfo
parameters(const ReadSpec *spec)
{
	ParamListInfo list;

	if (spec->time_attnum == 0)
		return NULL;
	list = makeParamList(2);
	for (int i = 0; i < 2; i++)
	{
		list->params[i].isnull = false;
		list->params[i].pflags = PARAM_FLAG_CONST;
		list->params[i].ptype = time_type(spec);
	}
	list->params[TIME_FROM - 1].value = spec->time_from;
	list->params[TIME_TO - 1].value = spec->time_to;
	return list;
}

static void
setup_parser(ParseState *pstate, void *spec)
{
	pstate->p_post_columnref_hook = check_column;
	pstate->p_paramref_hook = make_parameter;
	pstate->p_ref_hook_state = spec;
}

/*
 * Runs the query under the snapshot of the calling statement: the analyst sees
 * the data as of the same moment as any other SELECT at this place would.
 */
static void
run_query(const ReadSpec *spec, DestReceiver *receiver)
{
	SPIPrepareOptions prepare = {0};
	SPIExecuteOptions execute = {0};
	SPIPlanPtr plan;
	char *query;
	int result;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	query = query_text(spec);

	prepare.parserSetup = setup_parser;
	prepare.parserSetupArg = unconstify(ReadSpec *, spec);
	prepare.parseMode = RAW_PARSE_DEFAULT;
	prepare.cursorOptions = CURSOR_OPT_PARALLEL_OK;
	plan = SPI_prepare_extended(query, &prepare);
	if (plan == NULL)
		elog(ERROR, "SPI_prepare_extended failed: %s", SPI_result_code_string(SPI_result));

	execute.params = parameters(spec);
	execute.read_only = true;
	execute.dest = receiver;
	result = SPI_execute_plan_extended(plan, &execute);
	if (result != SPI_OK_SELECT)
		elog(ERROR, "SPI_execute_plan_extended failed: %s", SPI_result_code_string(result));
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

/*
 * Settings of the session that the read must not inherit from the caller.
 *
 * The search_path would choose the functions of the owner's views.  Messages
 * of the read would tell of the data, also those of level LOG (trace_sort
 * counts rows).  With row_security off, FORCE ROW LEVEL SECURITY would be an
 * error instead of a filter.  transform_null_equals, standard_conforming_strings,
 * backslash_quote and array_nulls change the SQL inside of functions: a pattern
 * like '\d+' would match something else.  plpgsql.extra_errors makes errors of
 * what is none, and whether there was one can't be hidden.
 * gin_fuzzy_search_limit makes an index scan drop rows by how many there are,
 * so that one user's presence could change another's rows.
 */
static const struct
{
	const char *name;
	const char *value;
} read_settings[] = {
	{"search_path", "pg_catalog, pg_temp"},
	{"client_min_messages", "error"},
	{"row_security", "on"},
	{"transform_null_equals", "off"},
	{"standard_conforming_strings", "on"},
	{"backslash_quote", "safe_encoding"},
	{"array_nulls", "on"},
	{"plpgsql.extra_errors", "none"},
	{"gin_fuzzy_search_limit", "0"},
};

/*
 * read_rows: reads the rows of a relation that have a user and a text, all or those
 * whose time lies within bounds, and hands their users, documents and tokens to the
 * sink.
 *
 * spec: relation (locked by the caller), columns, the role to read as, and the
 * tokenizer; max_tokens counts one document's tokens, longer documents are
 * dropped whole.  The sink hears nothing of users without a token, unless every_user
 * is set; then it hears of them, too, also of one whose texts are all NULL.  Any error of the
 * query may come out of here, with a text that must not reach the analyst; role and
 * settings are then restored by the abort of the (sub)transaction.
 */
void
read_rows(const ReadSpec *spec, const ReadSink *sink)
{
	ReadReceiver *receiver = receiver_create(spec, sink);
	Oid saved_user;
	int saved_context;
	int nest_level;

	GetUserIdAndSecContext(&saved_user, &saved_context);
	SetUserIdAndSecContext(spec->owner, (saved_context & ~SECURITY_NOFORCE_RLS) |
											SECURITY_RESTRICTED_OPERATION);
	nest_level = NewGUCNestLevel();
	for (int i = 0; i < (int) lengthof(read_settings); i++)
		(void) set_config_option(read_settings[i].name, read_settings[i].value,
								 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
								 false);

	run_query(spec, &receiver->pub);

	AtEOXact_GUC(false, nest_level);
	SetUserIdAndSecContext(saved_user, saved_context);
	MemoryContextDelete(receiver->row_context);
	MemoryContextDelete(receiver->user_context);
	pfree(receiver->held);
	pfree(receiver);
}

/* ---- a corpus as the sink ---- */

typedef struct CorpusSink
{
	Vocabulary *vocabulary;
	Corpus *corpus;
} CorpusSink;

static uint32
corpus_sink_id(void *state, const char *token, int len)
{
	return vocabulary_intern(((CorpusSink *) state)->vocabulary, token, len);
}

static void
corpus_sink_begin(void *state, uint64 hash)
{
	corpus_begin_user(((CorpusSink *) state)->corpus, hash);
}

static void
corpus_sink_token(void *state, uint32 id)
{
	corpus_add_token(((CorpusSink *) state)->corpus, id);
}

static void
corpus_sink_document(void *state)
{
	corpus_end_document(((CorpusSink *) state)->corpus);
}

static void
corpus_sink_end(void *state)
{
	corpus_end_user(((CorpusSink *) state)->corpus);
}

/* read_corpus: read_rows() into a corpus, every token into the vocabulary. */
void
read_corpus(const ReadSpec *spec, Vocabulary *vocabulary, Corpus *corpus)
{
	CorpusSink state = {vocabulary, corpus};
	ReadSink sink = {
		.state = &state,
		.token_id = corpus_sink_id,
		.begin_user = corpus_sink_begin,
		.add_token = corpus_sink_token,
		.end_document = corpus_sink_document,
		.end_user = corpus_sink_end};

	read_rows(spec, &sink);
}
