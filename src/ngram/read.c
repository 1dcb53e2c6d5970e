/*
 * read.c
 *	  From the relation's rows to token ids, user by user: the rows come in the order
 *	  of their users and go straight to whoever counts them.
 *
 * All rows of one user must arrive together, else the bound on a user's contribution
 * holds for each part and not for the user.  The query orders them, and the receiver
 * checks the order by the type's own comparison, because an index that a new
 * collation version has corrupted, or a remote server that sorts in another way, would
 * break it silently.  How the query is run, and who is protected from whom:
 * read_query.c.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "ngram/read.h"
#include "ngram/read_query.h"
#include "utils/memutils.h"

typedef struct ReadReceiver
{
	DestReceiver pub;
	const ReadSink *sink;
	Tokenizer *tokenizer;
	MemoryContext row_context; /* reset after each row */

	/* the user whose rows are arriving */
	UserType type;
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

static void
begin_user(ReadReceiver *receiver, Datum user)
{
	MemoryContext old;

	receiver->user_hash = user_hash(&receiver->type, user);
	MemoryContextReset(receiver->user_context);
	old = MemoryContextSwitchTo(receiver->user_context);
	receiver->user = datumCopy(user, receiver->type.entry->typbyval, receiver->type.entry->typlen);
	receiver->has_user = true;
	MemoryContextSwitchTo(old);
	if (receiver->every_user)
		open_user(receiver);
}

/* Is this row of the user whose rows are arriving?  Raises an error where users don't ascend. */
static bool
is_present_user(ReadReceiver *receiver, Datum user)
{
	int order;

	if (!receiver->has_user)
		return false;
	if (same_value(&receiver->type, receiver->user, user))
		return true;
	order = user_compare(&receiver->type, receiver->user, user);
	if (order > 0)
		report_disorder();
	return order == 0;
}

/* ---- the receiver ---- */

static void
receive_startup(DestReceiver *self, int operation, TupleDesc descriptor)
{
	ReadReceiver *receiver = (ReadReceiver *) self;
	Form_pg_attribute user = TupleDescAttr(descriptor, USER_COLUMN - 1);

	receiver->type = user_type(user->atttypid, user->attcollation);
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
		user = user_value(&receiver->type, user);
		if (!is_present_user(receiver, user))
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

	read_query(spec, true, &receiver->pub);
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

/*
 * read_corpus_in_order: read_rows() into a corpus, every token into the vocabulary.  Users
 * stand in it in their own order, which others who come or go don't change.
 */
void
read_corpus_in_order(const ReadSpec *spec, Vocabulary *vocabulary, Corpus *corpus)
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
