/*
 * module.c
 *	  Module start: the extension's settings.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "api/settings.h"
#include "ledger/ledger.h"

PG_MODULE_MAGIC;

int dpngram_test_seed = 0;

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
	ledger_init();
#if PG_VERSION_NUM >= 150000
	MarkGUCPrefixReserved("dpngram");
#else
	EmitWarningsOnPlaceholders("dpngram");
#endif
}
