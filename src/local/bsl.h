/*
 * bsl.h
 *	  BSL and IBSL: a trie that grows one depth after the other.
 */
#ifndef DPNGRAM_LOCAL_BSL_H
#define DPNGRAM_LOCAL_BSL_H

#include "local/local.h"

extern DpStatus bsl_check(const LocalQuery *query);
extern DpStatus bsl_run(const LocalQuery *query, const Poll *poll, LocalResult *result);
extern DpStatus ibsl_run(const LocalQuery *query, const Poll *poll, LocalResult *result);

#endif /* DPNGRAM_LOCAL_BSL_H */
