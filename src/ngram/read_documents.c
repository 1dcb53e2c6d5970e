/*
 * read_documents.c
 *	  From the relation's rows to documents, in whatever order they come.
 *
 * The server need not sort the texts: users are brought together by what is made of
 * their texts (documents.c), which is a fraction of the bytes and goes by hashes.
 * Only users of types without an extended hash function come in their order, which is
 * then checked as in read.c, and are told apart by a running number.
 *
 * How the query is run, and who is protected from whom: read_query.c.
 */
#include "postgres.h"

#include "common/dp_random.h"
#include "miscadmin.h"
#include "ngram/corpus_builder.h"
#include "ngram/read.h"
#include "ngram/read_query.h"
#include "utils/memutils.h"

typedef struct DocumentReceiver
{
	DestReceiver pub;
	DocumentSink sink;
	void *state;
	UserType type;
	bool hashed;
	MemoryContext row_context; /* reset after each row */

	/* without hashes: the user whose rows are arriving */
	uint64 users; /* so far, with this one */
	Datum user;
	MemoryContext user_context;
} DocumentReceiver;

/*
 * The columns could have been altered since their types were asked for, by functions
 * of this very session: then nobody who was told of the type before could compare users.
 */
static void
receive_startup(DestReceiver *self, int operation, TupleDesc descriptor)
{
	const UserType *type = &((DocumentReceiver *) self)->type;
	Form_pg_attribute user = TupleDescAttr(descriptor, USER_COLUMN - 1);
	UserType found = user_type(user->atttypid, user->attcollation);

	if (found.type != type->type || found.collation != type->collation)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the relation was changed while it was being read")));
}

/* A number for the user of this row, where there is no hash; users must ascend. */
static uint64
user_number(DocumentReceiver *receiver, Datum user)
{
	const UserType *type = &receiver->type;
	int order = 1;
	MemoryContext old;

	if (receiver->users > 0)
		order = user_compare(type, user, receiver->user);
	if (order < 0)
		report_disorder();
	if (order > 0)
	{
		MemoryContextReset(receiver->user_context);
		old = MemoryContextSwitchTo(receiver->user_context);
		receiver->user = datumCopy(user, type->entry->typbyval, type->entry->typlen);
		MemoryContextSwitchTo(old);
		receiver->users++;
	}
	return dp_splitmix_finish(receiver->users);
}

static bool
receive_row(TupleTableSlot *slot, DestReceiver *self)
{
	DocumentReceiver *receiver = (DocumentReceiver *) self;
	MemoryContext old = MemoryContextSwitchTo(receiver->row_context);
	bool no_user;
	bool no_text;
	Datum user = slot_getattr(slot, USER_COLUMN, &no_user);
	Datum text = slot_getattr(slot, TEXT_COLUMN, &no_text);

	CHECK_FOR_INTERRUPTS();
	if (!no_user && !no_text)
	{
		uint64 hash;

		user = user_value(&receiver->type, user);
		hash = receiver->hashed ? user_hash(&receiver->type, user) : user_number(receiver, user);
		receiver->sink(receiver->state, hash, user, text);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->row_context);
	return true;
}

static void
receive_nothing(DestReceiver *self)
{
}

/*
 * read_documents: hands the rows of a relation that have a user and a text, all or those
 * whose time lies within bounds, to the sink.
 *
 * The sink's hash is user_hash() of the user, or, where the type has none, a number of
 * the user's own.  Equal users have equal hashes; users with equal hashes are to be
 * compared.  spec: as of read_rows(), but for tokenizer, max_tokens and every_user, which
 * are not looked at.  Errors: those of read_rows().
 */
void
read_documents(const ReadSpec *spec, DocumentSink sink, void *state)
{
	DocumentReceiver receiver = {
		.pub = {.receiveSlot = receive_row,
				.rStartup = receive_startup,
				.rShutdown = receive_nothing,
				.rDestroy = receive_nothing,
				/* what it says doesn't matter, but for DestNone SPI reports no SELECT */
				.mydest = DestTuplestore},
		.sink = sink,
		.state = state,
		.type = read_user_type(spec)};

	receiver.hashed = user_type_hashed(&receiver.type);
	receiver.row_context = AllocSetContextCreate(CurrentMemoryContext, "dpngram row",
												 ALLOCSET_DEFAULT_SIZES);
	receiver.user_context = AllocSetContextCreate(CurrentMemoryContext, "dpngram user",
												  ALLOCSET_SMALL_SIZES);
	read_query(spec, !receiver.hashed, &receiver.pub);
	MemoryContextDelete(receiver.row_context);
	MemoryContextDelete(receiver.user_context);
}

static void
add_document(void *state, uint64 hash, Datum user, Datum text)
{
	corpus_builder_add(state, hash, user, text);
}

/*
 * read_corpus: read_documents() into a corpus, every token into the vocabulary.  Users are
 * compared as the owner, like all else that sees their values.
 */
void
read_corpus(const ReadSpec *spec, Vocabulary *vocabulary, Corpus *corpus)
{
	UserType users = read_user_type(spec);
	CorpusBuilder *builder = corpus_builder_create(spec->tokenizer, spec->max_tokens, &users,
												   vocabulary, corpus);
	ReadGuard guard = read_guard_begin(spec->owner);

	read_documents(spec, add_document, builder);
	corpus_builder_finish(builder);
	read_guard_end(&guard);
}
