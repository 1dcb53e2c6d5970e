/*
 * source_team.c
 *	  Texts in this process and in parallel workers.
 *
 * The leader reads the relation, which only it may do, and deals the rows out: all of a
 * user's go to the same process, chosen by the user's hash.  From then on it is one of
 * those who count, and adds up what the others send.  Workers are always asked
 * before the leader's own users are counted, so that all work at the same time, and what
 * they answer is read one after the other: they wait for nobody but the leader, who waits
 * for one of them at a time and sends them nothing meanwhile, so nobody waits in a circle.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "ngram/corpus_builder.h"
#include "ngram/extract.h"
#include "ngram/prefetch.h"
#include "ngram/read_query.h"
#include "ngram/source_local.h"
#include "ngram/source_team.h"
#include "ngram/team_rounds.h"

#define BATCH 1024 /* sums, n-grams, weights or biases that are passed on together */

/* The leader's place among the members, before the workers'. */
#define LEADER 0

/* Of the leader's own n-grams, what is to be passed on together or was got together. */
typedef struct OwnBatch
{
	TeamRounds *rounds;
	Size n;
	Size next;
	union
	{
		ItemKey item[BATCH];
		int64 weight[BATCH];
		uint16 bias[BATCH];
	};
} OwnBatch;

typedef struct TeamSource
{
	TextSource base;
	Team *team;
	TextSource *own; /* of the leader's users */
	Vocabulary *vocabulary;
	Corpus *corpus;
	Size memory_limit; /* bytes, for all that a level takes beside the corpus */

	TeamRounds *rounds; /* of the level that is counted in rounds */
	bool judged;		/* its biases have changed, and nobody knows */
} TeamSource;

/* ------------------------------------------------------------------------
 * requests
 * ------------------------------------------------------------------------ */

/* Ask all workers for something that takes up to two numbers to say; -1: none. */
static void
ask_all(const TeamSource *source, TeamRequest request, int32 a, int32 b)
{
	for (int i = 0; i < source->team->workers; i++)
	{
		TeamStream *stream = &source->team->stream[i];

		team_ask(stream, request);
		if (a >= 0)
			team_write(stream, &a, sizeof(a));
		if (b >= 0)
			team_write(stream, &b, sizeof(b));
		team_flush(stream);
	}
}

static void
tell_keys(const TeamSource *source, TeamRequest request, int32 k, const uint64 *key, uint32 n)
{
	for (int i = 0; i < source->team->workers; i++)
	{
		TeamStream *stream = &source->team->stream[i];

		team_ask(stream, request);
		if (k >= 0)
			team_write(stream, &k, sizeof(k));
		team_write(stream, &n, sizeof(n));
		team_write(stream, key, n * sizeof(uint64));
		team_flush(stream);
	}
}

static uint64
read_count(TeamStream *stream)
{
	uint64 n;

	team_read(stream, &n, sizeof(n));
	return n;
}

/* ------------------------------------------------------------------------
 * one histogram
 * ------------------------------------------------------------------------ */

static void
add_sums(const TeamSum *sum, Size n, Histogram *histogram)
{
	for (Size i = 0; i < n; i++)
	{
		if (i + PREFETCH_DISTANCE < n)
			histogram_prefetch(histogram, sum[i + PREFETCH_DISTANCE].key);
		histogram_add(histogram, sum[i].key, sum[i].weight);
	}
}

static void
add_answer(TeamStream *stream, Histogram *histogram)
{
	TeamSum sum[BATCH];
	uint64 left;

	while ((left = read_count(stream)) > 0)
		for (; left > 0; left -= Min(left, BATCH))
		{
			team_read(stream, sum, Min(left, BATCH) * sizeof(TeamSum));
			add_sums(sum, Min(left, BATCH), histogram);
		}
}

static void
team_histogram(TextSource *base, int k, HistogramVisitor visit, void *arg)
{
	TeamSource *source = (TeamSource *) base;
	Histogram *histogram = histogram_create(extract_count_memory(source->memory_limit, k));

	ask_all(source, TEAM_HISTOGRAM, k, -1);
	source_local_add(source->own, k, histogram);
	for (int i = 0; i < source->team->workers; i++)
		add_answer(&source->team->stream[i], histogram);
	histogram_consume(histogram, visit, arg);
}

/* ------------------------------------------------------------------------
 * rounds
 * ------------------------------------------------------------------------ */

static void
add_own_gram(void *state, RoundGram *gram)
{
	OwnBatch *batch = state;

	batch->item[batch->n++] = (ItemKey){gram->key, gram->content};
	if (batch->n < BATCH)
		return;
	team_rounds_add(batch->rounds, LEADER, batch->item, BATCH);
	batch->n = 0;
}

static void
add_own_grams(TeamSource *source)
{
	OwnBatch batch = {.rounds = source->rounds};

	source->own->methods->rounds_visit(source->own, add_own_gram, &batch);
	team_rounds_add(source->rounds, LEADER, batch.item, batch.n);
}

static void
add_grams(TeamRounds *rounds, int member, TeamStream *stream, uint64 n)
{
	ItemKey item[BATCH];

	while (n > 0)
	{
		Size now = Min(n, BATCH);

		team_read(stream, item, now * sizeof(ItemKey));
		team_rounds_add(rounds, member, item, now);
		n -= now;
	}
}

static void
team_rounds_begin(TextSource *base, int k, int draw)
{
	TeamSource *source = (TeamSource *) base;
	Team *team = source->team;
	int members = 1 + team->workers;
	uint64 *size = palloc(members * sizeof(uint64));

	ask_all(source, TEAM_ROUNDS_BEGIN, k, draw);
	source->own->methods->rounds_begin(source->own, k, draw);
	size[LEADER] = round_lists_size(source_local_lists(source->own));
	for (int m = 1; m < members; m++)
		size[m] = read_count(&team->stream[m - 1]);
	source->rounds = team_rounds_create(members, size,
										extract_count_memory(source->memory_limit, k) / 2);
	add_own_grams(source);
	for (int m = 1; m < members; m++)
		add_grams(source->rounds, m, &team->stream[m - 1], size[m]);
	team_rounds_finish(source->rounds);
	source->judged = false;
	pfree(size);
}

static void
visit_rounds(TextSource *base, RoundVisitor visit, void *arg)
{
	team_rounds_visit(((TeamSource *) base)->rounds, visit, arg);
}

static void
send_biases(TeamRounds *rounds, int member, TeamStream *stream)
{
	uint64 left = team_rounds_size(rounds, member);
	uint16 bias[BATCH];

	team_ask(stream, TEAM_BIASES);
	while (left > 0)
	{
		Size now = Min(left, BATCH);

		team_rounds_biases(rounds, member, bias, now);
		team_write(stream, bias, now * sizeof(uint16));
		left -= now;
	}
	team_flush(stream);
}

static int
take_own_bias(void *state, RoundGram *gram, int bias, int64 weight)
{
	OwnBatch *batch = state;

	if (batch->next == BATCH)
	{
		team_rounds_biases(batch->rounds, LEADER, batch->bias, Min(batch->n, BATCH));
		batch->n -= Min(batch->n, BATCH);
		batch->next = 0;
	}
	return batch->bias[batch->next++];
}

/*
 * Tell everybody what the last round has made of the biases.  Not before there is another:
 * after the last one nobody need know.
 */
static void
tell_biases(TeamSource *source)
{
	OwnBatch batch = {.rounds = source->rounds,
					  .n = team_rounds_size(source->rounds, LEADER),
					  .next = BATCH};

	for (int i = 0; i < source->team->workers; i++)
		send_biases(source->rounds, 1 + i, &source->team->stream[i]);
	ask_all(source, TEAM_ROUND, -1, -1);
	round_lists_judge(source_local_lists(source->own), take_own_bias, &batch);
}

static void
add_own_weight(void *state, const RoundGram *gram, int64 weight)
{
	OwnBatch *batch = state;

	batch->weight[batch->n++] = weight;
	if (batch->n < BATCH)
		return;
	team_rounds_weights(batch->rounds, LEADER, batch->weight, BATCH);
	batch->n = 0;
}

static void
add_own_weights(TeamSource *source)
{
	OwnBatch batch = {.rounds = source->rounds};

	round_lists_sum(source_local_lists(source->own), add_own_weight, &batch);
	team_rounds_weights(source->rounds, LEADER, batch.weight, batch.n);
}

static void
add_weights(TeamRounds *rounds, int member, TeamStream *stream)
{
	uint64 left = team_rounds_size(rounds, member);
	int64 weight[BATCH];

	while (left > 0)
	{
		Size now = Min(left, BATCH);

		team_read(stream, weight, now * sizeof(int64));
		team_rounds_weights(rounds, member, weight, now);
		left -= now;
	}
}

static void
team_rounds_count(TextSource *base, RoundJudge judge, void *arg)
{
	TeamSource *source = (TeamSource *) base;

	if (source->judged)
		tell_biases(source);
	else
		ask_all(source, TEAM_ROUND, -1, -1);
	add_own_weights(source);
	for (int i = 0; i < source->team->workers; i++)
		add_weights(source->rounds, 1 + i, &source->team->stream[i]);
	team_rounds_judge(source->rounds, judge, arg);
	source->judged = true;
}

static void
team_rounds_end(TextSource *base)
{
	TeamSource *source = (TeamSource *) base;

	ask_all(source, TEAM_ROUNDS_END, -1, -1);
	source->own->methods->rounds_end(source->own);
	team_rounds_free(source->rounds);
	source->rounds = NULL;
}

/* ------------------------------------------------------------------------
 * what was released
 * ------------------------------------------------------------------------ */

/* A worker's texts; those that nobody else had are copied. */
static void
add_texts(TeamStream *stream, uint32 n, WordText *text)
{
	for (uint32 i = 0; i < n; i++)
	{
		uint32 len;
		const char *bytes;

		team_read(stream, &len, sizeof(len));
		if (len == TEAM_UNKNOWN)
			continue;
		bytes = team_read_piece(stream, len);
		if (text[i].bytes == NULL)
			text[i] = (WordText){memcpy(palloc(Max(len, 1)), bytes, len), (int) len};
		else if (text[i].len != (int) len || memcmp(text[i].bytes, bytes, len) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR), errmsg("two words share a fingerprint")));
	}
}

static void
team_spell(TextSource *base, const ItemKey *word, uint32 n, WordText *text)
{
	TeamSource *source = (TeamSource *) base;

	for (int i = 0; i < source->team->workers; i++)
	{
		TeamStream *stream = &source->team->stream[i];

		team_ask(stream, TEAM_SPELL);
		team_write(stream, &n, sizeof(n));
		team_write(stream, word, n * sizeof(ItemKey));
		team_flush(stream);
	}
	source->own->methods->spell(source->own, word, n, text);
	for (int i = 0; i < source->team->workers; i++)
		add_texts(&source->team->stream[i], n, text);
}

static void
team_words_released(TextSource *base, const uint64 *key, uint32 n)
{
	TeamSource *source = (TeamSource *) base;

	tell_keys(source, TEAM_WORDS, -1, key, n);
	source->own->methods->words_released(source->own, key, n);
}

static void
team_grams_released(TextSource *base, const GramSet *set)
{
	TeamSource *source = (TeamSource *) base;

	tell_keys(source, TEAM_GRAMS, set->length, set->key, set->n);
	source->own->methods->grams_released(source->own, set);
}

static void
team_close(TextSource *base)
{
	TeamSource *source = (TeamSource *) base;

	source->own->methods->close(source->own);
	corpus_free(source->corpus);
	vocabulary_free(source->vocabulary);
	pfree(source);
}

static const SourceMethods team_methods = {
	.histogram = team_histogram,
	.rounds_begin = team_rounds_begin,
	.rounds_visit = visit_rounds,
	.rounds_count = team_rounds_count,
	.rounds_end = team_rounds_end,
	.spell = team_spell,
	.words_released = team_words_released,
	.grams_released = team_grams_released,
	.close = team_close};

/* ------------------------------------------------------------------------
 * reading
 * ------------------------------------------------------------------------ */

typedef struct Dealer
{
	Team *team;
	CorpusBuilder *builder;
} Dealer;

/* The DocumentSink of the leader: whose is it? */
static void
deal(void *state, uint64 hash, Datum user, Datum text)
{
	Dealer *dealer = state;
	int member = team_member(dealer->team, hash);
	TeamStream *stream;

	if (member == LEADER)
	{
		corpus_builder_add(dealer->builder, hash, user, text);
		return;
	}
	stream = &dealer->team->stream[member - 1];
	team_ask(stream, TEAM_DOCUMENT);
	team_write(stream, &hash, sizeof(hash));
	team_write_datum(stream, user, dealer->team->user);
	team_write_datum(stream, text, dealer->team->text);
}

/* What workers must know; false where they can't do what the leader does. */
bool
team_task(const ReadSpec *read, const CountSpec *spec, TeamTask *task)
{
	const char *tokenizer = tokenizer_name(read->tokenizer);
	UserType users = read_user_type(read);

	if (tokenizer == NULL || !user_type_parallel_safe(&users))
		return false;
	*task = (TeamTask){.spec = *spec,
					   .text_type = read->text_type,
					   .user_type = users.type,
					   .user_collation = users.collation};
	task->spec.max_tokens = read->max_tokens;
	strlcpy(task->tokenizer, tokenizer, sizeof(task->tokenizer));
	return true;
}

/* Read the relation; its rows are with those who will count them. */
TextSource *
source_team_create(Team *team, const ReadSpec *read, const CountSpec *spec)
{
	TeamSource *source = palloc0(sizeof(TeamSource));
	UserType users = read_user_type(read);
	Dealer dealer = {.team = team};
	ReadGuard guard;

	source->base.methods = &team_methods;
	source->team = team;
	source->vocabulary = vocabulary_create(extract_vocabulary_memory(), spec->points);
	source->corpus = corpus_create(extract_memory_limit(), spec->pruning == PRUNING_SINGLE);
	source->memory_limit = extract_memory_limit();
	dealer.builder = corpus_builder_create(read->tokenizer, read->max_tokens, &users,
										   source->vocabulary, source->corpus);
	guard = read_guard_begin(read->owner);
	read_documents(read, deal, &dealer);
	ask_all(source, TEAM_READ, -1, -1);
	corpus_builder_finish(dealer.builder);
	read_guard_end(&guard);
	/* half of it in rounds, where the n-grams of all stand beside its own */
	source->own = source_local_create(spec, source->vocabulary, source->corpus,
									  source->memory_limit / 2);
	return &source->base;
}
