/*
 * source_pushdown.c
 *	  Texts on other servers: a source that asks them by SQL.
 *
 * A statement for each histogram, each round and the spelling of words; it carries all that
 * it depends on (node_spec.h), so that nothing is kept on a server between two of them.
 *
 * In rounds, what is known of the n-grams between them stays here, and a server is told of
 * those biases alone that are not the full one, and only of n-grams that it has named
 * itself: what others' users wrote is none of its business.  The first round needs no
 * statement of its own: the one that tells what n-grams there are counts with full biases.
 *
 * Histograms spill, as everywhere; what is known in rounds stays in memory.
 *
 * A server may say what it likes, but nothing that makes this process go astray: what is
 * no possible n-gram of the level has no place among those that are counted here, where
 * n-grams are found by their ranks.
 */
#include "postgres.h"

#include "common/dp_weights.h"
#include "miscadmin.h"
#include "ngram/fingerprint.h"
#include "ngram/pairs.h"
#include "ngram/pushdown.h"
#include "ngram/walk.h"
#include "utils/memutils.h"

/* An n-gram that a part has. */
typedef struct Finding
{
	WeightedItem found;
	int part;
} Finding;

#define ST_SORT sort_findings
#define ST_ELEMENT_TYPE Finding
#define ST_COMPARE(a, b)                                        \
	((a)->found.item.key != (b)->found.item.key ?               \
		 ((a)->found.item.key < (b)->found.item.key ? -1 : 1) : \
		 ((a)->found.item.content < (b)->found.item.content ?   \
			  -1 :                                              \
			  ((a)->found.item.content > (b)->found.item.content ? 1 : (a)->part - (b)->part)))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* The n-grams of a level in rounds that a part has named, by their places, ascending. */
typedef struct PartSupport
{
	uint32 *place;
	Size n;
	Size at; /* of the next that the part is expected to tell of */
} PartSupport;

/* A level in rounds: its support, ordered by key. */
typedef struct PushRounds
{
	const struct PushSource *source;
	int level;
	int draw;
	bool counted; /* the weights are those of the present round */
	Size n;
	RoundGram *gram;
	int64 *weight;
	uint16 *bias;
	PartSupport *part;

	/* while it is made */
	Finding *finding;
	Size capacity;
} PushRounds;

typedef struct PushSource
{
	TextSource base;
	MemoryContext context;
	const Pushdown *pushdown;
	CountSpec count;
	Size memory_limit;
	uint32 words; /* |S_1| */
	const uint64 *word;
	const GramSet *set[NGRAM_MAX_LENGTH + 1]; /* from S_2 on */
	PushRounds *rounds;
	MemoryContext rounds_context;
} PushSource;

/* ------------------------------------------------------------------------
 * specifications
 * ------------------------------------------------------------------------ */

static int
spec_parts(const PushSource *source)
{
	return source->pushdown->by_nodes ? source->pushdown->nparts : 1;
}

/* What every part is told of a level, but for its hashes and biases. */
static NodeSpec
node_spec(const PushSource *source, int level, int draw)
{
	const Pushdown *pushdown = source->pushdown;
	NodeSpec spec = {.count = source->count,
					 .level = level,
					 .draw = draw,
					 .encoding = pushdown->encoding,
					 .probe = pushdown->probe,
					 .byte_order = pushdown->byte_order,
					 .tokenizer = pushdown->tokenizer,
					 .user_type = pushdown->user_type,
					 .text_type = pushdown->text_type};

	if (level > 1)
	{
		spec.n[1] = source->words;
		spec.key[1] = source->word;
	}
	for (int k = 2; k < level; k++)
	{
		spec.n[k] = source->set[k]->n;
		spec.key[k] = source->set[k]->key;
	}
	return spec;
}

static void
set_hashes(NodeSpec *spec, const PushPart *part)
{
	spec->nhashes = part->foreign ? part->nhashes : 0;
	memcpy(spec->hash, part->hash, sizeof(part->hash));
}

static bytea **
pack_specs(const PushSource *source, NodeSpec spec)
{
	int n = spec_parts(source);
	bytea **packed = palloc(n * sizeof(bytea *));

	for (int i = 0; i < n; i++)
	{
		set_hashes(&spec, &source->pushdown->part[i]);
		packed[i] = node_spec_pack(&spec);
	}
	return packed;
}

static void
free_specs(const PushSource *source, bytea **packed)
{
	for (int i = 0; i < spec_parts(source); i++)
		pfree(packed[i]);
	pfree(packed);
}

/* ------------------------------------------------------------------------
 * what servers say
 * ------------------------------------------------------------------------ */

/* Is this the key of a word, or of a member of V_k (walk.h)? */
static bool
is_possible(const PushSource *source, int k, uint64 key)
{
	bool single = source->count.pruning == PRUNING_SINGLE;
	uint32 left = (uint32) (key >> 32);
	uint32 right = (uint32) key;
	uint32 shorter = k == 2 ? source->words : k > 2 ? source->set[k - 1]->n :
													  0;

	if (k == 1)
		return key < FINGERPRINT_PRIME;
	if (left == 0 || left > shorter || right == 0 || right > (single ? source->words : shorter))
		return false;
	/* two (k-1)-grams overlap in what the one ends with and the other begins with */
	return single || k == 2 ||
		   (uint32) source->set[k - 1]->key[left - 1] ==
			   (uint32) (source->set[k - 1]->key[right - 1] >> 32);
}

static void
check_possible(const PushSource *source, int k, uint64 key)
{
	if (!is_possible(source, k, key))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("a server has counted what is no n-gram of this length")));
}

/* ------------------------------------------------------------------------
 * one histogram
 * ------------------------------------------------------------------------ */

/* A histogram that servers fill. */
typedef struct PushHistogram
{
	const PushSource *source;
	int level;
	Histogram *histogram;
} PushHistogram;

static void
add_weight(void *state, int part, const WeightedItem *next)
{
	const PushHistogram *level = state;

	check_possible(level->source, level->level, next->item.key);
	histogram_add(level->histogram, next->item, next->weight);
}

static void
push_histogram(TextSource *base, int k, HistogramVisitor visit, void *arg)
{
	PushSource *source = (PushSource *) base;
	bytea **spec = pack_specs(source, node_spec(source, k, 0));
	PushHistogram level = {source, k, histogram_create(source->memory_limit)};

	pushdown_count(source->pushdown, spec, add_weight, &level);
	free_specs(source, spec);
	histogram_consume(level.histogram, visit, arg);
}

/* ------------------------------------------------------------------------
 * rounds
 * ------------------------------------------------------------------------ */

static void
take_finding(void *state, int part, const WeightedItem *next)
{
	PushRounds *rounds = state;

	check_possible(rounds->source, rounds->level, next->item.key);
	if (rounds->n == rounds->capacity)
	{
		rounds->capacity *= 2;
		rounds->finding = repalloc_huge(rounds->finding, rounds->capacity * sizeof(Finding));
	}
	rounds->finding[rounds->n++] = (Finding){*next, part};
}

static void *
alloc_array(Size n, Size size)
{
	return MemoryContextAllocExtended(CurrentMemoryContext, Max(n, 1) * size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

static inline int
compare_gram(const RoundGram *gram, ItemKey item)
{
	if (gram->key != item.key)
		return gram->key < item.key ? -1 : 1;
	if (gram->content != item.content)
		return gram->content < item.content ? -1 : 1;
	return 0;
}

/* The findings, in order, become the support, and each part's places in it. */
static void
place_findings(PushRounds *rounds, Size nfindings)
{
	rounds->n = 0;
	for (Size i = 0; i < nfindings; i++)
	{
		const Finding *finding = &rounds->finding[i];
		PartSupport *part = &rounds->part[finding->part];

		CHECK_FOR_INTERRUPTS();
		if (rounds->n == 0 || compare_gram(&rounds->gram[rounds->n - 1], finding->found.item) != 0)
		{
			if (rounds->n == PG_UINT32_MAX)
				ereport(ERROR,
						(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("too many n-grams")));
			rounds->gram[rounds->n++] = (RoundGram){.key = finding->found.item.key,
													.content = finding->found.item.content};
		}
		rounds->weight[rounds->n - 1] += finding->found.weight;
		part->place[part->n++] = (uint32) (rounds->n - 1);
	}
}

static void
make_support(PushRounds *rounds, int nparts)
{
	Size nfindings = rounds->n;

	sort_findings(rounds->finding, nfindings);
	rounds->gram = alloc_array(nfindings, sizeof(RoundGram));
	rounds->weight = alloc_array(nfindings, sizeof(int64));
	rounds->part = alloc_array(nparts, sizeof(PartSupport));
	for (Size i = 0; i < nfindings; i++)
		rounds->part[rounds->finding[i].part].n++;
	for (int i = 0; i < nparts; i++)
	{
		rounds->part[i].place = alloc_array(rounds->part[i].n, sizeof(uint32));
		rounds->part[i].n = 0;
	}
	place_findings(rounds, nfindings);
	pfree(rounds->finding);
	rounds->bias = alloc_array(rounds->n, sizeof(uint16));
	for (Size i = 0; i < rounds->n; i++)
		rounds->bias[i] = DP_BIAS_ONE;
}

static void
push_rounds_begin(TextSource *base, int k, int draw)
{
	PushSource *source = (PushSource *) base;
	MemoryContext old;
	PushRounds *rounds;
	bytea **spec;

	source->rounds_context = AllocSetContextCreate(source->context, "dpngram rounds",
												   ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(source->rounds_context);
	rounds = palloc0(sizeof(PushRounds));
	rounds->source = source;
	rounds->level = k;
	rounds->draw = draw;
	rounds->capacity = 1024;
	rounds->finding = palloc(rounds->capacity * sizeof(Finding));
	spec = pack_specs(source, node_spec(source, k, draw));
	pushdown_count(source->pushdown, spec, take_finding, rounds);
	free_specs(source, spec);
	make_support(rounds, spec_parts(source));
	rounds->counted = true;
	source->rounds = rounds;
	MemoryContextSwitchTo(old);
}

static void
push_rounds_visit(TextSource *base, RoundVisitor visit, void *arg)
{
	PushRounds *rounds = ((PushSource *) base)->rounds;

	for (Size i = 0; i < rounds->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		visit(arg, &rounds->gram[i]);
	}
}

/* One part's specification of the present round, with the biases of what it has named. */
static bytea *
round_spec(const PushSource *source, NodeSpec spec, int i)
{
	const PushRounds *rounds = source->rounds;
	const PartSupport *part = &rounds->part[i];
	uint64 *biased = alloc_array(part->n, sizeof(uint64));
	uint16 *bias = alloc_array(part->n, sizeof(uint16));
	bytea *packed;

	for (Size j = 0; j < part->n; j++)
	{
		uint32 place = part->place[j];

		if (rounds->bias[place] == DP_BIAS_ONE)
			continue;
		biased[spec.nbiases] = rounds->gram[place].key;
		bias[spec.nbiases++] = rounds->bias[place];
	}
	spec.biased = biased;
	spec.bias = bias;
	set_hashes(&spec, &source->pushdown->part[i]);
	packed = node_spec_pack(&spec);
	pfree(biased);
	pfree(bias);
	return packed;
}

/* The place of an n-gram that a part tells of: often the next, since the part orders them, too. */
static uint32
place_of(PushRounds *rounds, PartSupport *part, ItemKey item)
{
	Size low = 0;
	Size high = part->n;

	if (part->at < part->n && compare_gram(&rounds->gram[part->place[part->at]], item) == 0)
		return part->place[part->at++];
	while (low < high)
	{
		Size middle = low + (high - low) / 2;

		if (compare_gram(&rounds->gram[part->place[middle]], item) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == part->n || compare_gram(&rounds->gram[part->place[low]], item) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the relation was changed while it was being read")));
	part->at = low + 1;
	return part->place[low];
}

static void
add_round_weight(void *state, int part, const WeightedItem *next)
{
	PushRounds *rounds = state;

	rounds->weight[place_of(rounds, &rounds->part[part], next->item)] += next->weight;
}

/* Add up all parts' weights by the present biases. */
static void
count_round(PushSource *source)
{
	PushRounds *rounds = source->rounds;
	NodeSpec spec = node_spec(source, rounds->level, rounds->draw);
	int n = spec_parts(source);
	bytea **packed = palloc(n * sizeof(bytea *));

	memset(rounds->weight, 0, rounds->n * sizeof(int64));
	for (int i = 0; i < n; i++)
	{
		rounds->part[i].at = 0;
		packed[i] = round_spec(source, spec, i);
	}
	pushdown_count(source->pushdown, packed, add_round_weight, rounds);
	free_specs(source, packed);
}

static void
push_rounds_count(TextSource *base, RoundJudge judge, void *arg)
{
	PushSource *source = (PushSource *) base;
	PushRounds *rounds = source->rounds;

	if (!rounds->counted)
		count_round(source);
	rounds->counted = false;
	for (Size i = 0; i < rounds->n; i++)
	{
		int bias;

		CHECK_FOR_INTERRUPTS();
		bias = judge(arg, &rounds->gram[i], rounds->bias[i], rounds->weight[i]);
		Assert(bias >= 0 && bias <= DP_BIAS_ONE);
		rounds->bias[i] = (uint16) bias;
	}
}

static void
push_rounds_end(TextSource *base)
{
	PushSource *source = (PushSource *) base;

	MemoryContextDelete(source->rounds_context);
	source->rounds = NULL;
}

/* ------------------------------------------------------------------------
 * what was released
 * ------------------------------------------------------------------------ */

typedef struct Spelling
{
	const PushSource *source;
	MemoryContext context; /* of the texts */
	Pairs *number;
	const ItemKey *word;
	WordText *text;
} Spelling;

static void
take_word(void *state, const char *bytes, int len)
{
	Spelling *spelling = state;
	ItemKey word = word_key(bytes, len, spelling->source->count.points);
	uint32 number = pair_number(spelling->number, word.key);
	WordText *text;
	char *copy;

	if (number == 0)
		elog(ERROR, "a word was not asked for");
	if (spelling->word[number - 1].content != word.content)
		return; /* another word with this key */
	text = &spelling->text[number - 1];
	if (text->bytes == NULL)
	{
		copy = MemoryContextAlloc(spelling->context, Max(len, 1));
		memcpy(copy, bytes, len);
		*text = (WordText){copy, len};
	}
	else if (text->len != len || memcmp(text->bytes, bytes, len) != 0)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("two words share a fingerprint")));
}

static void
push_spell(TextSource *base, const ItemKey *word, uint32 n, WordText *text)
{
	PushSource *source = (PushSource *) base;
	GramSet set = {.n = n};
	Spelling spelling = {source, CurrentMemoryContext, NULL, word, text};
	NodeSpec spec = node_spec(source, 1, 0);
	bytea **packed;

	memset(text, 0, n * sizeof(WordText));
	if (n == 0)
		return;
	set.key = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof(uint64));
	for (uint32 i = 0; i < n; i++)
		set.key[i] = word[i].key;
	spelling.number = pairs_create(&set, NULL);
	spec.level = 2;
	spec.count.bound[2] = 1; /* it is not used, but must be one */
	spec.n[1] = n;
	spec.key[1] = set.key;
	packed = pack_specs(source, spec);
	pushdown_words(source->pushdown, packed, take_word, &spelling);
	free_specs(source, packed);
	pairs_free(spelling.number);
	pfree(set.key);
	for (uint32 i = 0; i < n; i++)
		if (text[i].bytes == NULL)
			elog(ERROR, "a released word was not found");
}

static void
push_words_released(TextSource *base, const uint64 *key, uint32 n)
{
	PushSource *source = (PushSource *) base;
	uint64 *copy = MemoryContextAllocHuge(source->context, Max(n, 1) * sizeof(uint64));

	memcpy(copy, key, n * sizeof(uint64));
	source->words = n;
	source->word = copy;
}

static void
push_grams_released(TextSource *base, const GramSet *set)
{
	((PushSource *) base)->set[set->length] = set;
}

static void
push_close(TextSource *base)
{
	MemoryContextDelete(((PushSource *) base)->context);
}

static const SourceMethods push_methods = {
	.histogram = push_histogram,
	.rounds_begin = push_rounds_begin,
	.rounds_visit = push_rounds_visit,
	.rounds_count = push_rounds_count,
	.rounds_end = push_rounds_end,
	.spell = push_spell,
	.words_released = push_words_released,
	.grams_released = push_grams_released,
	.close = push_close};

/* A source of the texts that the pushdown reaches; memory_limit: bytes, for one histogram. */
TextSource *
source_pushdown_create(const Pushdown *pushdown, const CountSpec *spec, Size memory_limit)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "dpngram pushdown",
												  ALLOCSET_DEFAULT_SIZES);
	PushSource *source = MemoryContextAllocZero(context, sizeof(PushSource));

	source->base.methods = &push_methods;
	source->context = context;
	source->pushdown = pushdown;
	source->count = *spec;
	source->count.max_tokens = pushdown->read.max_tokens;
	source->memory_limit = memory_limit;
	return &source->base;
}
