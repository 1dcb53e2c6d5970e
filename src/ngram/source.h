/*
 * source.h
 *	  Where the texts of an extraction are and who counts them: this process, this
 *	  process and parallel workers, or other servers.
 *
 * The methods that go level by level (level_plain.c, level_rounds.c, word_rounds.c)
 * know no texts.  They ask a source for exact sums of users' weights, draw noise, decide,
 * and tell the source what was released.  Sums of integers are the same in whatever
 * order and wherever they are added up, so the rows of a call do not depend on the source.
 */
#ifndef DPNGRAM_SOURCE_H
#define DPNGRAM_SOURCE_H

#include "ngram/fingerprint.h"
#include "ngram/gramset.h"
#include "ngram/histogram.h"
#include "ngram/plan.h"
#include "ngram/rounds.h"

/*
 * What is the same wherever a user's n-grams are counted.  No pointers: it is sent to
 * workers and servers as it stands.  The two keys are secret, but no proof rests on that.
 */
typedef struct CountSpec
{
	NgramPruning pruning;
	int max_tokens;					   /* longer documents are dropped; 0: no limit */
	uint64 sampling_key;			   /* of the choice among a user's n-grams */
	WordPoints points;				   /* of the words' keys */
	int64 bound[NGRAM_MAX_LENGTH + 1]; /* distinct n-grams of a user, by length */
} CountSpec;

typedef struct TextSource TextSource;

/*
 * Levels come in ascending order, k = 1 first; level k may be asked for once S_1 ..
 * S_{k-1} were told.  The n-grams of level 1 are words, by word_key() (fingerprint.h);
 * those of level k >= 2 are pairs of numbers, by level_item() (walk.h).
 */
typedef struct SourceMethods
{
	/*
	 * Each n-gram of level k that some user has, once, with the exact sum of the weights
	 * floor(2^20 / sqrt(s)) of users with s n-grams each.  Any order.
	 */
	void (*histogram)(TextSource *source, int k, HistogramVisitor visit, void *arg);

	/*
	 * The same in rounds, with weights by biases.  begin fixes each user's n-grams (another
	 * draw is another choice among more than the bound, for audits; 0 but there) and gives
	 * all of them the full bias.  count is one round: it hands each n-gram with its bias and
	 * exact sum to judge, which returns its bias in the next round, 0 .. DP_BIAS_ONE.
	 */
	void (*rounds_begin)(TextSource *source, int k, int draw);
	void (*rounds_visit)(TextSource *source, RoundVisitor visit, void *arg);
	void (*rounds_count)(TextSource *source, RoundJudge judge, void *arg);
	void (*rounds_end)(TextSource *source);

	/*
	 * The texts of n words in the memory context that is current.  An error if two words
	 * share key and content.
	 */
	void (*spell)(TextSource *source, const ItemKey *word, uint32 n, WordText *text);

	/* S_1, by its words' keys in the order of their numbers; S_k, k >= 2, numbered. */
	void (*words_released)(TextSource *source, const uint64 *key, uint32 n);
	void (*grams_released)(TextSource *source, const GramSet *set);

	void (*close)(TextSource *source);
} SourceMethods;

struct TextSource
{
	const SourceMethods *methods;
};

#endif /* DPNGRAM_SOURCE_H */
