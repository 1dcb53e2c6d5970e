/*
 * push_test.c
 *	  Holds what servers count by SQL against what this process counts that has read the
 *	  texts, integer for integer, with sets and biases that are drawn at random.
 *
 * Both are sources of texts (source.h), and both are asked the same: each level's
 * histogram, the same in rounds, the spelling of words.  Between levels they are told the
 * same released sets: a part of the support, and pairs that nobody has.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "common/dp_weights.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "ngram/extract.h"
#include "ngram/fingerprint.h"
#include "ngram/node_count.h"
#include "ngram/pushdown.h"
#include "ngram/source_local.h"
#include "ngram/walk.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(push_test_compare);
PG_FUNCTION_INFO_V1(push_test_spec);

/* An n-gram with a weight, in a round with a bias. */
typedef struct Sum
{
	ItemKey item;
	int64 weight;
	int bias;
} Sum;

typedef struct Sums
{
	Sum *sum;
	Size n;
	Size capacity;
	int round; /* after which biases are drawn */
	int k;
	uint64 seed;
} Sums;

#define ST_SORT sort_sums
#define ST_ELEMENT_TYPE Sum
#define ST_COMPARE(a, b)                                                                \
	((a)->item.key != (b)->item.key		   ? ((a)->item.key < (b)->item.key ? -1 : 1) : \
	 (a)->item.content < (b)->item.content ? -1 :                                       \
											 (a)->item.content > (b)->item.content)
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

typedef struct Test
{
	TextSource *local;
	TextSource *pushed;
	CountSpec spec;
	uint64 seed;
	uint32 nwords; /* |S_1| */
	uint64 *word;
	GramSet *set[NGRAM_MAX_LENGTH + 1];
} Test;

/* ---- sums ---- */

static void
add_sum(Sums *sums, ItemKey item, int64 weight, int bias)
{
	if (sums->n == sums->capacity)
	{
		sums->capacity = Max(1024, 2 * sums->capacity);
		sums->sum = sums->sum == NULL ? palloc(sums->capacity * sizeof(Sum)) :
										repalloc_huge(sums->sum, sums->capacity * sizeof(Sum));
	}
	sums->sum[sums->n++] = (Sum){item, weight, bias};
}

static void
take_entry(void *state, const HistogramEntry *entry)
{
	add_sum(state, entry->key, entry->weight, 0);
}

/* A bias that depends on the n-gram and the round alone: often full, at times nothing. */
static int
draw_bias(const Sums *sums, uint64 key)
{
	uint64 draw = dp_mix64(sums->seed ^ (uint64) sums->round, key);

	if (draw % 4 == 0)
		return 0;
	return draw % 4 == 1 ? 1 + (int) (draw / 4 % DP_BIAS_ONE) : DP_BIAS_ONE;
}

static int
judge(void *state, RoundGram *gram, int bias, int64 weight)
{
	Sums *sums = state;

	add_sum(sums, (ItemKey){gram->key, gram->content}, weight, bias);
	return draw_bias(sums, gram->key);
}

static int64
count_different(Sums *a, Sums *b)
{
	int64 different = 0;

	if (a->n > 1)
		sort_sums(a->sum, a->n);
	if (b->n > 1)
		sort_sums(b->sum, b->n);
	if (a->n != b->n)
		return -1;
	for (Size i = 0; i < a->n; i++)
	{
		const Sum *x = &a->sum[i];
		const Sum *y = &b->sum[i];

		different += x->item.key != y->item.key || x->item.content != y->item.content ||
					 x->weight != y->weight || x->bias != y->bias;
	}
	return different;
}

/* ---- levels ---- */

static Sums
histogram_of(TextSource *source, int k)
{
	Sums sums = {0};

	source->methods->histogram(source, k, take_entry, &sums);
	return sums;
}

/* Rounds of a level by both sources: how many sums were compared, and how many differ. */
static int64
compare_rounds(Test *test, int k, int rounds, int64 *compared)
{
	TextSource *source[2] = {test->local, test->pushed};
	int64 different = 0;

	for (int i = 0; i < 2; i++)
		source[i]->methods->rounds_begin(source[i], k, 0);
	for (int round = 0; round < rounds; round++)
	{
		Sums sums[2] = {{.round = round, .seed = test->seed}, {.round = round, .seed = test->seed}};

		for (int i = 0; i < 2; i++)
			source[i]->methods->rounds_count(source[i], judge, &sums[i]);
		*compared += (int64) sums[0].n;
		different += count_different(&sums[0], &sums[1]) != 0;
	}
	for (int i = 0; i < 2; i++)
		source[i]->methods->rounds_end(source[i]);
	return different;
}

/* S_1: two of three words; both sources must spell them alike. */
static int64
release_words(Test *test, const Sums *sums)
{
	TextSource *source[2] = {test->local, test->pushed};
	WordText *text[2];
	ItemKey *item = palloc((sums->n + 1) * sizeof(ItemKey));
	int64 different = 0;

	test->word = palloc((sums->n + 1) * sizeof(uint64));
	for (Size i = 0; i < sums->n; i++)
		if (dp_mix64(test->seed, sums->sum[i].item.content) % 3 > 0)
		{
			item[test->nwords] = sums->sum[i].item;
			test->word[test->nwords++] = sums->sum[i].item.key;
		}
	for (int i = 0; i < 2; i++)
	{
		text[i] = palloc0((test->nwords + 1) * sizeof(WordText));
		source[i]->methods->spell(source[i], item, test->nwords, text[i]);
	}
	for (uint32 i = 0; i < test->nwords; i++)
		different += text[0][i].len != text[1][i].len ||
					 memcmp(text[0][i].bytes, text[1][i].bytes, text[0][i].len) != 0;
	for (int i = 0; i < 2; i++)
		source[i]->methods->words_released(source[i], test->word, test->nwords);
	return different;
}

/* S_k: two of three n-grams. */
static void
release_grams(Test *test, int k, const Sums *sums)
{
	GramSet *set = gramset_create(k);

	for (Size i = 0; i < sums->n; i++)
		if (dp_mix64(test->seed + k, sums->sum[i].item.content) % 3 > 0)
			gramset_add(set, sums->sum[i].item.key, (GramWeight){0});
	gramset_sort(set);
	test->set[k] = set;
	test->local->methods->grams_released(test->local, set);
	test->pushed->methods->grams_released(test->pushed, set);
}

/* A level by both, once and in rounds; tells the rows (level, n-grams, sums, different). */
static Size
compare_level(Test *test, int k, int rounds, ReturnSetInfo *result)
{
	Sums local = histogram_of(test->local, k);
	Sums pushed = histogram_of(test->pushed, k);
	int64 different = count_different(&local, &pushed);
	int64 compared = (int64) local.n;
	Datum values[4];
	bool nulls[4] = {0};

	if (rounds > 0)
		different += compare_rounds(test, k, rounds, &compared);
	if (k == 1)
		different += release_words(test, &local);
	else
		release_grams(test, k, &local);
	values[0] = Int32GetDatum(k);
	values[1] = Int64GetDatum((int64) local.n);
	values[2] = Int64GetDatum(compared);
	values[3] = Int64GetDatum(different);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	return local.n;
}

/* ---- what is read ---- */

static ReadSpec
read_spec(Relation relation, const char *user, const char *text, const char *tokenizer,
		  int max_tokens)
{
	ReadSpec spec = {.relid = RelationGetRelid(relation),
					 .owner = relation->rd_rel->relowner,
					 .max_tokens = max_tokens};

	spec.user_attnum = get_attnum(spec.relid, user);
	spec.text_attnum = get_attnum(spec.relid, text);
	if (spec.user_attnum <= 0 || spec.text_attnum <= 0)
		elog(ERROR, "no such column");
	spec.text_type = get_atttype(spec.relid, spec.text_attnum);
	spec.tokenizer = tokenizer_create(tokenizer, spec.text_type);
	return spec;
}

static CountSpec
count_spec(uint64 seed, int levels, int bound, bool single)
{
	CountSpec spec = {.pruning = single ? PRUNING_SINGLE : PRUNING_BOTH,
					  .sampling_key = dp_splitmix_finish(seed),
					  .points = {1 + dp_splitmix_finish(seed + 1) % (FINGERPRINT_PRIME - 1),
								 1 + dp_splitmix_finish(seed + 2) % (FINGERPRINT_PRIME - 1)}};

	for (int k = 1; k <= levels; k++)
		spec.bound[k] = bound;
	return spec;
}

static Pushdown *
find_pushdown(const ReadSpec *read, const char *tokenizer)
{
	PushRefusal refusal;
	Pushdown *pushdown = pushdown_find(read, tokenizer, false, &refusal);

	if (pushdown == NULL)
		ereport(ERROR, (errmsg("no pushdown"), errdetail("%s", refusal.detail)));
	return pushdown;
}

/*
 * push_test_compare(relation, user_col, text_col, levels, bound, single, rounds, seed,
 * tokenizer, max_tokens): for each level its n-grams, how many sums were compared, and how
 * many things differed.
 */
Datum
push_test_compare(PG_FUNCTION_ARGS)
{
	Relation relation = table_open(PG_GETARG_OID(0), AccessShareLock);
	int levels = PG_GETARG_INT32(3);
	bool single = PG_GETARG_BOOL(5);
	char *tokenizer = text_to_cstring(PG_GETARG_TEXT_PP(8));
	ReadSpec read = read_spec(relation, NameStr(*PG_GETARG_NAME(1)), NameStr(*PG_GETARG_NAME(2)),
							  tokenizer, PG_GETARG_INT32(9));
	Test test = {.seed = (uint64) PG_GETARG_INT64(7)};
	Vocabulary *vocabulary;
	Corpus *corpus = corpus_create(extract_memory_limit(), single);

	InitMaterializedSRF(fcinfo, 0);
	test.spec = count_spec(test.seed, levels, PG_GETARG_INT32(4), single);
	vocabulary = vocabulary_create(extract_vocabulary_memory(), test.spec.points);
	read_corpus(&read, vocabulary, corpus);
	test.local = source_local_create(&test.spec, vocabulary, corpus, extract_memory_limit());
	test.pushed = source_pushdown_create(find_pushdown(&read, tokenizer), &test.spec,
										 extract_memory_limit());
	for (int k = 1; k <= levels; k++)
		if (compare_level(&test, k, PG_GETARG_INT32(6), (ReturnSetInfo *) fcinfo->resultinfo) == 0)
			break;
	test.local->methods->close(test.local);
	test.pushed->methods->close(test.pushed);
	corpus_free(corpus);
	vocabulary_free(vocabulary);
	table_close(relation, AccessShareLock);
	return (Datum) 0;
}

/*
 * push_test_spec(level, words): a specification as a coordinator would send it for users of
 * type int and texts of type text; S_1 has the words w0, w1, .., longer sets one pair each.
 */
Datum
push_test_spec(PG_FUNCTION_ARGS)
{
	int level = PG_GETARG_INT32(0);
	uint32 words = (uint32) PG_GETARG_INT32(1);
	NodeSpec spec = {.count = count_spec(1, NGRAM_MAX_LENGTH, 10, false),
					 .level = level,
					 .encoding = GetDatabaseEncoding(),
					 .tokenizer = "word",
					 .user_type = format_type_extended(INT4OID, -1, FORMAT_TYPE_FORCE_QUALIFY),
					 .text_type = format_type_extended(TEXTOID, -1, FORMAT_TYPE_FORCE_QUALIFY)};
	uint64 *key = palloc((words + 1) * sizeof(uint64));

	spec.probe = node_probe("word", TEXTOID);
	for (uint32 i = 0; i < words; i++)
	{
		char *word = psprintf("w%u", i);

		key[i] = word_key(word, (int) strlen(word), spec.count.points).key;
	}
	if (level > 1)
	{
		spec.n[1] = words;
		spec.key[1] = key;
	}
	for (int k = 2; k < level; k++)
	{
		static const uint64 pair = UINT64CONST(1) << 32 | 1;

		spec.n[k] = 1;
		spec.key[k] = &pair;
	}
	PG_RETURN_BYTEA_P(node_spec_pack(&spec));
}
