/*
 * module.c
 *	  Module start: the extension's settings.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "api/settings.h"
#include "ledger/ledger.h"
#include "ngram/team.h"

PG_MODULE_MAGIC;

int dpngram_test_seed = 0;
int dpngram_max_parallel_workers = 2;
bool dpngram_progress = false;

void _PG_init(void);

void
_PG_init(void)
{
	DefineCustomIntVariable("dpngram.test_seed",
							"Makes the noise of private releases predictable, for tests.",
							"Zero means real noise. Releases made with a seed protect nobody and "
							"are marked in the ledger.",
							&dpngram_test_seed, 0, 0, PG_INT32_MAX, PGC_SUSET, GUC_NOT_IN_SAMPLE,
							NULL, NULL, NULL);
	DefineCustomIntVariable("dpngram.max_parallel_workers",
							"Sets how many parallel workers one release of n-grams may have.",
							"Zero means that the call's own worker does all by itself. "
							"max_parallel_workers and min_parallel_table_scan_size "
							"apply, too.",
							&dpngram_max_parallel_workers, 2, 0, TEAM_MAX_WORKERS, PGC_USERSET, 0,
							NULL, NULL, NULL);
	DefineCustomBoolVariable("dpngram.progress",
							 "Tells by NOTICEs how far a private release has come.",
							 "They say no more than the released rows do, but when they come "
							 "depends on the data.",
							 &dpngram_progress, false, PGC_USERSET, 0, NULL, NULL, NULL);
	ledger_init();
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved("dpngram");
#else
	EmitWarningsOnPlaceholders("dpngram");
#endif
}
