/*
 * release.h
 *	  The way of every private release over a relation.
 */
#ifndef DPNGRAM_RELEASE_H
#define DPNGRAM_RELEASE_H

#include "api/arguments.h"

extern void release_ngrams(FunctionCallInfo fcinfo, const NgramArguments *arguments,
						   bool with_length);

#endif /* DPNGRAM_RELEASE_H */
