/*
 * phase_clock.c
 *	  A clock that gives every moment of a call to one phase.
 *
 * Phases are entered per n-gram and round, ten million times a call, so it reads
 * the processor's counter, which costs some ten nanoseconds, and not the system's clock.
 * Its unit comes of the system's clock at both ends.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "portability/instr_time.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "ngram/plan.h"
#include "phase_clock.h"

#define MAX_PHASES 1024
#define MAX_DEPTH 16

typedef struct Phase
{
	const char *name;
	int level;
	int round;
	int64 entered;
	uint64 ticks;
} Phase;

static Phase phases[MAX_PHASES];
static int nphases;
static int stack[MAX_DEPTH];
static int depth; /* 0: the clock stands still */
static uint64 last;
static uint64 first;
static instr_time start;
static double seconds_a_tick;
static int level;
static int round_number;
static int64 seen[NGRAM_MAX_LENGTH + 1]; /* tokens, by level */

PG_FUNCTION_INFO_V1(phase_start);
PG_FUNCTION_INFO_V1(phase_stop);
PG_FUNCTION_INFO_V1(phase_times);

static inline uint64
ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	instr_time now;

	INSTR_TIME_SET_CURRENT(now);
	return (uint64) (INSTR_TIME_GET_DOUBLE(now) * 1e9);
#endif
}

/* The phase of this name at the present place; a new one if there is none yet. */
static int
find_phase(const char *name)
{
	int round = round_number;

	for (int i = nphases - 1; i >= 0; i--)
		if (phases[i].name == name && phases[i].level == level && phases[i].round == round)
			return i;
	if (nphases == MAX_PHASES)
		elog(ERROR, "too many phases");
	phases[nphases] = (Phase){.name = name, .level = level, .round = round};
	return nphases++;
}

static inline void
charge_time(void)
{
	uint64 now = ticks();

	phases[stack[depth - 1]].ticks += now - last;
	last = now;
}

void
phase_enter(const char *name)
{
	int phase;

	if (depth == 0)
		return;
	if (depth == MAX_DEPTH)
		elog(ERROR, "phases too deep");
	charge_time();
	phase = find_phase(name);
	phases[phase].entered++;
	stack[depth++] = phase;
}

void
phase_leave(void)
{
	if (depth == 0)
		return;
	charge_time();
	depth--;
}

void
phase_set_place(int new_level, int new_round)
{
	level = new_level;
	round_number = new_round;
}

int
phase_level(void)
{
	return level;
}

int
phase_round(void)
{
	return round_number;
}

/* Tokens that the present level was shown. */
void
phase_see(int64 n)
{
	seen[level] += n;
}

bool
phase_is(const char *name)
{
	return depth > 0 && strcmp(phases[stack[depth - 1]].name, name) == 0;
}

/* phase_start(clock bool): from here on memory is watched and, if so wished, time counts. */
Datum
phase_start(PG_FUNCTION_ARGS)
{
	bool clock = PG_GETARG_BOOL(0);

	nphases = 0;
	memset(seen, 0, sizeof(seen));
	phase_set_place(0, 0);
	stack[0] = find_phase("around");
	depth = clock ? 1 : 0;
	phase_memory_start();
	INSTR_TIME_SET_CURRENT(start);
	first = last = ticks();
	PG_RETURN_VOID();
}

/* phase_stop() returns float8: the seconds since phase_start(). */
Datum
phase_stop(PG_FUNCTION_ARGS)
{
	instr_time now;

	if (depth > 0)
	{
		depth = 1;
		charge_time();
	}
	else
		last = ticks();
	depth = 0;
	phase_memory_stop();
	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	seconds_a_tick = INSTR_TIME_GET_DOUBLE(now) / (double) (last - first);
	PG_RETURN_FLOAT8(INSTR_TIME_GET_DOUBLE(now));
}

/* phase_times() returns the phases in the order in which they were first entered. */
Datum
phase_times(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < nphases; i++)
	{
		Datum values[7] = {Int32GetDatum(i),
						   Int32GetDatum(phases[i].level),
						   Int32GetDatum(phases[i].round),
						   PointerGetDatum(cstring_to_text(phases[i].name)),
						   Int64GetDatum(phases[i].entered),
						   Int64GetDatum(seen[phases[i].level]),
						   Float8GetDatum((double) phases[i].ticks * seconds_a_tick)};
		bool nulls[7] = {false};

		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
