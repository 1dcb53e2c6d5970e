/*
 * team_worker.c
 *	  A parallel worker: it keeps the texts of its users and answers what the leader asks
 *	  about them.
 *
 * It reads no relation.  The leader sends it documents, which it cuts into words and
 * keeps just as a call without workers does, in its own memory and temporary files; then
 * it is a source of exact sums over its users (source_local.c), with the leader's requests
 * in place of function calls.  Words have the same keys in every process, so no texts but
 * those of released words travel back.
 *
 * It leaves when it is told to.  If it fails, the leader hears that and no more, nor does
 * the server log: a message could carry a value of the data.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "utils/memutils.h"

#include "ngram/corpus_builder.h"
#include "ngram/extract.h"
#include "ngram/source_local.h"
#include "ngram/team.h"

typedef struct TeamWorker
{
	const TeamTask *task;
	TeamStream stream;
	Vocabulary *vocabulary;
	Corpus *corpus;
	TextSource *source;
	uint64 grams; /* of the level that is counted in rounds */

	TeamSum sum[TEAM_MESSAGE / sizeof(TeamSum)];
	uint32 sums;
} TeamWorker;

static int32
read_number(TeamWorker *worker)
{
	int32 number;

	team_read(&worker->stream, &number, sizeof(number));
	return number;
}

static void
write_count(TeamWorker *worker, uint64 n)
{
	team_write(&worker->stream, &n, sizeof(n));
}

/* n and so many keys */
static uint64 *
read_keys(TeamWorker *worker, uint32 *n)
{
	uint64 *key;

	team_read(&worker->stream, n, sizeof(*n));
	key = MemoryContextAllocHuge(CurrentMemoryContext, Max(*n, 1) * sizeof(uint64));
	team_read(&worker->stream, key, *n * sizeof(uint64));
	return key;
}

/* ------------------------------------------------------------------------
 * documents
 * ------------------------------------------------------------------------ */

/* Take documents until there are no more. */
static void
take_documents(TeamWorker *worker, CorpusBuilder *builder)
{
	TeamType user_type = team_type(worker->task->user_type);
	TeamType text_type = team_type(worker->task->text_type);
	MemoryContext row = AllocSetContextCreate(CurrentMemoryContext, "dpngram row",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(row);

	while (read_number(worker) == TEAM_DOCUMENT)
	{
		uint64 hash;
		Datum user;
		Datum text;

		team_read(&worker->stream, &hash, sizeof(hash));
		user = team_read_datum(&worker->stream, user_type);
		text = team_read_datum(&worker->stream, text_type);
		corpus_builder_add(builder, hash, user, text);
		MemoryContextReset(row);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(row);
}

static void
become_source(TeamWorker *worker)
{
	const TeamTask *task = worker->task;
	UserType users = user_type(task->user_type, task->user_collation);
	Tokenizer *tokenizer = tokenizer_create(task->tokenizer, task->text_type);
	CorpusBuilder *builder;

	worker->vocabulary = vocabulary_create(extract_vocabulary_memory(), task->spec.points);
	worker->corpus = corpus_create(extract_memory_limit(), task->spec.pruning == PRUNING_SINGLE);
	builder = corpus_builder_create(tokenizer, task->spec.max_tokens, &users, worker->vocabulary,
									worker->corpus);
	take_documents(worker, builder);
	corpus_builder_finish(builder);
	worker->source = source_local_create(&task->spec, worker->vocabulary, worker->corpus,
										 extract_memory_limit());
}

/* ------------------------------------------------------------------------
 * counting
 * ------------------------------------------------------------------------ */

static void
write_sums(TeamWorker *worker)
{
	write_count(worker, worker->sums);
	team_write(&worker->stream, worker->sum, worker->sums * sizeof(TeamSum));
	worker->sums = 0;
}

static void
answer_sum(void *state, const HistogramEntry *entry)
{
	TeamWorker *worker = state;

	worker->sum[worker->sums++] = (TeamSum){entry->key, entry->weight};
	if (worker->sums == lengthof(worker->sum))
		write_sums(worker);
}

static void
answer_histogram(TeamWorker *worker)
{
	int k = read_number(worker);

	worker->source->methods->histogram(worker->source, k, answer_sum, worker);
	if (worker->sums > 0)
		write_sums(worker);
	write_count(worker, 0);
}

static void
answer_gram(void *state, RoundGram *gram)
{
	ItemKey item = {gram->key, gram->content};

	team_write(&((TeamWorker *) state)->stream, &item, sizeof(item));
}

static void
answer_rounds_begin(TeamWorker *worker)
{
	int k = read_number(worker);
	int draw = read_number(worker);

	worker->source->methods->rounds_begin(worker->source, k, draw);
	write_count(worker, round_lists_size(source_local_lists(worker->source)));
	worker->source->methods->rounds_visit(worker->source, answer_gram, worker);
}

static void
answer_weight(void *state, const RoundGram *gram, int64 weight)
{
	team_write(&((TeamWorker *) state)->stream, &weight, sizeof(weight));
}

/* The leader has judged: its answers are the biases. */
static int
take_bias(void *state, RoundGram *gram, int bias, int64 weight)
{
	uint16 next;

	team_read(&((TeamWorker *) state)->stream, &next, sizeof(next));
	return next;
}

/* ------------------------------------------------------------------------
 * what was released
 * ------------------------------------------------------------------------ */

static void
answer_spell(TeamWorker *worker)
{
	uint32 n;
	ItemKey *word;
	WordText *text;

	team_read(&worker->stream, &n, sizeof(n));
	word = MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * sizeof(ItemKey));
	team_read(&worker->stream, word, n * sizeof(ItemKey));
	text = MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * sizeof(WordText));
	worker->source->methods->spell(worker->source, word, n, text);
	for (uint32 i = 0; i < n; i++)
	{
		uint32 len = text[i].bytes == NULL ? TEAM_UNKNOWN : (uint32) text[i].len;

		team_write(&worker->stream, &len, sizeof(len));
		if (text[i].bytes != NULL)
			team_write(&worker->stream, text[i].bytes, len);
	}
}

static void
take_words(TeamWorker *worker)
{
	uint32 n;
	uint64 *key = read_keys(worker, &n);

	worker->source->methods->words_released(worker->source, key, n);
}

/* A set lives as long as the source. */
static void
take_grams(TeamWorker *worker)
{
	GramSet *set = gramset_create(read_number(worker));
	uint32 n;
	uint64 *key = read_keys(worker, &n);

	for (uint32 i = 0; i < n; i++)
		gramset_add(set, key[i], (GramWeight){0});
	pfree(key);
	worker->source->methods->grams_released(worker->source, set);
}

/* ------------------------------------------------------------------------
 * the worker
 * ------------------------------------------------------------------------ */

static void
answer(TeamWorker *worker, TeamRequest request)
{
	switch (request)
	{
		case TEAM_HISTOGRAM:
			answer_histogram(worker);
			break;
		case TEAM_ROUNDS_BEGIN:
			answer_rounds_begin(worker);
			break;
		case TEAM_ROUND:
			round_lists_sum(source_local_lists(worker->source), answer_weight, worker);
			break;
		case TEAM_BIASES:
			round_lists_judge(source_local_lists(worker->source), take_bias, worker);
			break;
		case TEAM_ROUNDS_END:
			worker->source->methods->rounds_end(worker->source);
			break;
		case TEAM_SPELL:
			answer_spell(worker);
			break;
		case TEAM_WORDS:
			take_words(worker);
			break;
		case TEAM_GRAMS:
			take_grams(worker);
			break;
		default:
			elog(ERROR, "unknown request %d", (int) request);
	}
	team_flush(&worker->stream);
}

static void
serve(TeamWorker *worker)
{
	TeamRequest request;

	become_source(worker);
	while ((request = (TeamRequest) read_number(worker)) != TEAM_DISMISS)
		answer(worker, request);
	worker->source->methods->close(worker->source);
	corpus_free(worker->corpus);
	vocabulary_free(worker->vocabulary);
}

/* Nothing but that there was an error is told; nor that, where nobody is left to hear it. */
static void
mask_error(const TeamWorker *worker, MemoryContext context)
{
	ErrorData *error;

	if (worker->stream.lost)
		proc_exit(1);
	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	ereport(ERROR,
			(errcode(error->sqlerrcode),
			 errmsg("a parallel worker of a dpngram release failed with SQLSTATE %s",
					unpack_sql_state(error->sqlerrcode)),
			 errhidestmt(true), errhidecontext(true)));
}

/* The main function of a parallel worker. */
void
dpngram_team_worker(dsm_segment *segment, shm_toc *toc)
{
	char *queues = shm_toc_lookup(toc, TEAM_KEY_QUEUES, false);
	shm_mq *in = (shm_mq *) (queues + 2 * ParallelWorkerNumber * TEAM_QUEUE_SIZE);
	shm_mq *out = (shm_mq *) (queues + (2 * ParallelWorkerNumber + 1) * TEAM_QUEUE_SIZE);
	TeamWorker *worker = palloc0(sizeof(TeamWorker));
	MemoryContext context = CurrentMemoryContext;

	worker->task = shm_toc_lookup(toc, TEAM_KEY_TASK, false);
	shm_mq_set_receiver(in, MyProc);
	shm_mq_set_sender(out, MyProc);
	team_stream_init(&worker->stream, shm_mq_attach(in, segment, NULL),
					 shm_mq_attach(out, segment, NULL));
	pgstat_report_activity(STATE_RUNNING, "dp_ngrams");
	PG_TRY();
	{
		serve(worker);
	}
	PG_CATCH();
	{
		mask_error(worker, context);
	}
	PG_END_TRY();
}
