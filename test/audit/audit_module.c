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
	[SABOTAGE_UNDEBITED] = "undebited",
	[SABOTAGE_UNBOUNDED] = "unbounded",
	[SABOTAGE_UNCLIPPED] = "unclipped",
	[SABOTAGE_TWO_LINES] = "two-lines",
	[SABOTAGE_EXACT_TOTAL] = "exact-total",
	[SABOTAGE_SAME_HALVES] = "same-halves",
	[SABOTAGE_LITTLE_NOISE] = "little-noise",
	[SABOTAGE_REDRAWN] = "redrawn",
	[SABOTAGE_UNBIASED] = "unbiased",
	[SABOTAGE_STALE_NORM] = "stale-norm",
	[SABOTAGE_WEIGHTED] = "weighted"};

/* As many rounds as an extraction has, and the releases of a distribution. */
#define MAX_DRAWS (NGRAM_MAX_LENGTH * NGRAM_MAX_ROUNDS)

static struct
{
	AuditDraw draw[MAX_DRAWS];
	int ndraws;
	bool changed;  /* one level saw two kinds or scales of noise, or there were too many */
	int64 spilled; /* records written by histograms */
	int depth;	   /* of the deepest partition among them */
} audit_log;

void
_PG_init(void)
{
	gsl_set_error_handler_off();
}

/* What was drawn at this level, or NULL. */
static AuditDraw *
find_draw(int level)
{
	for (int i = audit_log.ndraws - 1; i >= 0; i--)
		if (audit_log.draw[i].level == level)
			return &audit_log.draw[i];
	return NULL;
}

/* dp_audit_noise: the engine draws noise of this scale at this level. */
void
dp_audit_noise(DpAuditKind kind, int level, int64 scale)
{
	AuditDraw *draw = find_draw(level);

	if (draw == NULL && audit_log.ndraws < MAX_DRAWS)
	{
		draw = &audit_log.draw[audit_log.ndraws++];
		*draw = (AuditDraw){kind, level, scale, 0};
	}
	if (draw == NULL || draw->kind != kind || draw->scale != scale)
		audit_log.changed = true;
	else
		draw->n++;
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
	const AuditDraw *draw = find_draw(level);

	return draw == NULL || draw->kind != AUDIT_GAUSSIAN ? 0 : draw->scale;
}

/* The draws of the i-th level that there were any at, from 0; NULL beyond. */
const AuditDraw *
audit_log_draw(int i)
{
	return i < audit_log.ndraws ? &audit_log.draw[i] : NULL;
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
