/*
 * source_local.h
 *	  Texts in this process: a vocabulary and a corpus.
 */
#ifndef DPNGRAM_SOURCE_LOCAL_H
#define DPNGRAM_SOURCE_LOCAL_H

#include "ngram/corpus.h"
#include "ngram/source.h"
#include "ngram/vocabulary.h"

/*
 * Words' keys are those of the vocabulary's point.  It is told to forget its words once S_1
 * is known, and the corpus is consumed, but both remain the caller's to free.
 * memory_limit: bytes, for what one level is counted in.  Allocates in the current memory
 * context; sets that are told to the source must live until it is closed.
 */
extern TextSource *source_local_create(const CountSpec *spec, Vocabulary *vocabulary,
									   Corpus *corpus, Size memory_limit);

/* For a source that is made of several: level k's sums added to others', and its rounds. */
extern void source_local_add(TextSource *source, int k, Histogram *histogram);
extern RoundLists *source_local_lists(TextSource *source);

#endif /* DPNGRAM_SOURCE_LOCAL_H */
