/*
 * audit_module.c
 *	  The audit library's frame: module start, sabotages, the log that the
 *	  engine's hooks write, and verdicts.
 */
#include "postgres.h"

#include <gsl/gsl_errno.h>

#include "utils/builtins.h"

#include "audit.h"
#include "compat.h"

#pragma GCC visibility push(default)
PG_MODULE_MAGIC;
void _PG_init(void);
#pragma GCC visibility pop

DpSabotage dp_sabotage = SABOTAGE_NONE;

static const char *const sabotage_names[] = {
	[SABOTAGE_NONE] = "none",
	[SABOTAGE_UNDERCOUNT] = "undercount",
	[SABOTAGE_PARTIAL] = "partial",
	[SABOTAGE_MAX_NORM] = "max-norm",
	[SABOTAGE_NEAREST] = "nearest",
	[SABOTAGE_OFF_LATTICE] = "off-lattice",
	[SABOTAGE_UNDEBITED] = "undebited"};

static struct
{
	int64 sigma[NGRAM_MAX_LENGTH + 1];
	bool changed;  /* one level saw two sigmas, or a level out of range */
	int64 spilled; /* records written by histograms */
	int depth;	   /* of the deepest partition among them */
} audit_log;

void
_PG_init(void)
{
	gsl_set_error_handler_off();
}

/* dp_audit_sigma: the engine draws noise of this sigma at this level. */
void
dp_audit_sigma(int level, int64 sigma)
{
	if (level < 1 || level > NGRAM_MAX_LENGTH ||
		(audit_log.sigma[level] != 0 && audit_log.sigma[level] != sigma))
		audit_log.changed = true;
	else
		audit_log.sigma[level] = sigma;
}

/* dp_audit_spill: a histogram writes a record to one of its files. */
void
dp_audit_spill(int depth)
{
	audit_log.spilled++;
	audit_log.depth = Max(audit_log.depth, depth + 1);
}

void
audit_log_clear(void)
{
	memset(&audit_log, 0, sizeof(audit_log));
}

/* The sigma drawn with at a level, 0 if none was. */
int64
audit_log_sigma(int level)
{
	return audit_log.sigma[level];
}

bool
audit_log_changed(void)
{
	return audit_log.changed;
}

int64
audit_log_spilled(void)
{
	return audit_log.spilled;
}

int
audit_log_depth(void)
{
	return audit_log.depth;
}

/* audit_sabotage(text): break the engine in this way until told otherwise. */
AUDIT_FUNCTION(audit_sabotage)
{
	char *name = text_to_cstring(PG_GETARG_TEXT_PP(0));

	for (int i = 0; i < (int) lengthof(sabotage_names); i++)
		if (strcmp(name, sabotage_names[i]) == 0)
		{
			dp_sabotage = i;
			PG_RETURN_VOID();
		}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("unknown sabotage \"%s\"", name)));
}

void
verdicts_begin(FunctionCallInfo fcinfo)
{
	InitMaterializedSRF(fcinfo, 0);
}

void
verdict(FunctionCallInfo fcinfo, const char *claim, bool holds, double measured, double bound,
		int64 trials)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum values[5] = {CStringGetTextDatum(claim), BoolGetDatum(holds), Float8GetDatum(measured),
					   Float8GetDatum(bound), Int64GetDatum(trials)};
	bool nulls[5] = {false};

	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* A test's p-value must not be below AUDIT_P. */
void
verdict_p(FunctionCallInfo fcinfo, const char *claim, double p, int64 trials)
{
	verdict(fcinfo, psprintf("p-value: %s", claim), p >= AUDIT_P, p, AUDIT_P, trials);
}

NgramMethod
audit_method(const char *name)
{
	NgramMethod method;

	if (!ngram_method_by_name(name, &method))
		elog(ERROR, "unknown method \"%s\"", name);
	return method;
}

NgramPruning
audit_pruning(const char *name)
{
	NgramPruning pruning;

	if (!ngram_pruning_by_name(name, &pruning))
		elog(ERROR, "unknown pruning \"%s\"", name);
	return pruning;
}
