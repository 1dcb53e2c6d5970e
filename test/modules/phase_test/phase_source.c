/*
 * phase_source.c
 *	  Where the time of an extraction goes: what a source of texts is asked, level by level
 *	  and round by round, and what is done besides.
 */
#include "postgres.h"

#include "ngram/bucket_support.h"
#include "ngram/noise.h"
#include "ngram/source_local.h"
#include "ngram/source_team.h"
#include "ngram/spurious.h"
#include "phase_clock.h"

/* A team's source has a local one inside. */
#define MAX_SOURCES 8

static struct
{
	TextSource *source;
	const SourceMethods *methods;
} clocked[MAX_SOURCES];

static int nclocked;
static bool scanning;
static const Corpus *texts; /* the first that is scanned; others are lists of n-grams */

static const SourceMethods *
methods_of(const TextSource *source)
{
	for (int i = nclocked - 1; i >= 0; i--)
		if (clocked[i].source == source)
			return clocked[i].methods;
	elog(ERROR, "a source without a clock");
}

static void
clock_histogram(TextSource *source, int k, HistogramVisitor visit, void *arg)
{
	phase_set_place(k, 0);
	phase_enter("count");
	scanning = true;
	texts = NULL;
	methods_of(source)->histogram(source, k, visit, arg);
	scanning = false;
	phase_leave();
}

static void
clock_rounds_begin(TextSource *source, int k, int draw)
{
	phase_set_place(k, 0);
	phase_enter("users' lists");
	scanning = true;
	texts = NULL;
	methods_of(source)->rounds_begin(source, k, draw);
	scanning = false;
	phase_leave();
}

static void
clock_rounds_visit(TextSource *source, RoundVisitor visit, void *arg)
{
	phase_enter("visit");
	methods_of(source)->rounds_visit(source, visit, arg);
	phase_leave();
}

static void
clock_rounds_count(TextSource *source, RoundJudge judge, void *arg)
{
	phase_set_place(phase_level(), phase_round() + 1);
	phase_enter("round");
	methods_of(source)->rounds_count(source, judge, arg);
	phase_leave();
}

static void
clock_rounds_end(TextSource *source)
{
	phase_set_place(phase_level(), 0);
	methods_of(source)->rounds_end(source);
}

static void
clock_spell(TextSource *source, const ItemKey *word, uint32 n, WordText *text)
{
	phase_enter("spell");
	methods_of(source)->spell(source, word, n, text);
	phase_leave();
}

static void
clock_words_released(TextSource *source, const uint64 *key, uint32 n)
{
	phase_enter("number words");
	methods_of(source)->words_released(source, key, n);
	phase_leave();
}

static void
clock_grams_released(TextSource *source, const GramSet *set)
{
	methods_of(source)->grams_released(source, set);
}

static void
clock_close(TextSource *source)
{
	const SourceMethods *methods = methods_of(source);

	phase_set_place(0, 0);
	for (int i = 0; i < nclocked; i++)
		if (clocked[i].source == source)
			clocked[i] = clocked[--nclocked];
	methods->close(source);
}

static const SourceMethods clock_methods = {
	.histogram = clock_histogram,
	.rounds_begin = clock_rounds_begin,
	.rounds_visit = clock_rounds_visit,
	.rounds_count = clock_rounds_count,
	.rounds_end = clock_rounds_end,
	.spell = clock_spell,
	.words_released = clock_words_released,
	.grams_released = clock_grams_released,
	.close = clock_close};

/* Calls that failed left sources behind; a new call's first one is told by the clock. */
static TextSource *
put_clock_on(TextSource *source)
{
	if (nclocked == MAX_SOURCES)
		nclocked = 0;
	clocked[nclocked].source = source;
	clocked[nclocked++].methods = source->methods;
	source->methods = &clock_methods;
	return source;
}

extern TextSource *__real_source_local_create(const CountSpec *spec, Vocabulary *vocabulary,
											  Corpus *corpus, Size memory_limit);
extern TextSource *__wrap_source_local_create(const CountSpec *spec, Vocabulary *vocabulary,
											  Corpus *corpus, Size memory_limit);

/* A local source within a team's is a part of what that takes. */
TextSource *
__wrap_source_local_create(const CountSpec *spec, Vocabulary *vocabulary, Corpus *corpus,
						   Size memory_limit)
{
	TextSource *source = __real_source_local_create(spec, vocabulary, corpus, memory_limit);

	return phase_is("source of a team") ? source : put_clock_on(source);
}

extern TextSource *__real_source_team_create(Team *team, const ReadSpec *read,
											 const CountSpec *spec);
extern TextSource *__wrap_source_team_create(Team *team, const ReadSpec *read,
											 const CountSpec *spec);

TextSource *
__wrap_source_team_create(Team *team, const ReadSpec *read, const CountSpec *spec)
{
	TextSource *source;

	phase_enter("source of a team");
	source = __real_source_team_create(team, read, spec);
	phase_leave();
	return put_clock_on(source);
}

extern bool __real_corpus_scan_next(CorpusScan *scan, CorpusUser *user);
extern bool __wrap_corpus_scan_next(CorpusScan *scan, CorpusUser *user);

/* A level is shown what the one before left of the users' texts. */
bool
__wrap_corpus_scan_next(CorpusScan *scan, CorpusUser *user)
{
	bool more = __real_corpus_scan_next(scan, user);

	if (texts == NULL)
		texts = scan->corpus;
	if (more && scanning && scan->corpus == texts)
		phase_see(user->n);
	return more;
}

PHASE_VALUE(noise_gaussian, int64, "noise", (Noise * noise, int64 sigma, int level, uint64 content),
			(noise, sigma, level, content))
PHASE_VOID(support_release_spurious, "spurious",
		   (Support * support, DpRandom *random, int64 sigma, int64 threshold, GramSet *set),
		   (support, random, sigma, threshold, set))
PHASE_VOID(bucket_support_spurious, "spurious",
		   (BucketSupport * support, DpRandom *random, const DpRate *rate, BucketVisitor visit,
			void *state),
		   (support, random, rate, visit, state))
PHASE_VOID(gramset_sort, "sort", (GramSet * set), (set))
PHASE_VOID(released_sort, "sort", (ReleasedGrams * released, Size from), (released, from))
