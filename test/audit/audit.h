/*
 * audit.h
 *	  What the files of the audit library share: verdicts, exact statistics, and
 *	  small worlds that the engine is run on many times.
 */
#ifndef DPNGRAM_AUDIT_LIBRARY_H
#define DPNGRAM_AUDIT_LIBRARY_H

#include "postgres.h"

#include <math.h>

#include "fmgr.h"

#include "common/dp_audit.h"
#include "ngram/extract.h"
#include "ngram/set_union.h"

/* Of words' keys; worlds keep their words from run to run, while the engine draws a new one. */
#define AUDIT_WORD_POINTS ((WordPoints){UINT64CONST(1234567890123456789), UINT64CONST(987654321)})

/* Every verdict errs with at most this probability if the claim is true. */
#define AUDIT_P 1e-6

/*
 * An SQL function.  The library is compiled with hidden visibility, so that
 * its copy of the engine never meets the extension's; these stay visible.
 */
#define AUDIT_FUNCTION(name)                \
	_Pragma("GCC visibility push(default)") \
		PG_FUNCTION_INFO_V1(name);          \
	_Pragma("GCC visibility pop")           \
		Datum                               \
		name(PG_FUNCTION_ARGS)

/*
 * One row (claim, holds, measured, bound, trials) of the function's result,
 * which verdicts_begin() opens.
 */
extern void verdicts_begin(FunctionCallInfo fcinfo);
extern void verdict(FunctionCallInfo fcinfo, const char *claim, bool holds, double measured,
					double bound, int64 trials);
extern void verdict_p(FunctionCallInfo fcinfo, const char *claim, double p, int64 trials);

/* Names of arguments, as dp_ngrams takes them. */
extern NgramMethod audit_method(const char *name);
extern NgramPruning audit_pruning(const char *name);

/* audit_stats.c */
typedef struct Rejection
{
	double mu;		  /* lower bound of mu */
	double true_pos;  /* lower bound of P(event) in world 1 */
	double false_pos; /* upper bound of P(event) in world 0 */
} Rejection;

extern double binomial_p(int64 n, int64 k, double p);
extern double binomial_at_least(int64 n, int64 k, double p);
extern double binomial_uniform(int64 n, int64 k, double p, double u);
extern double proportion_low(int64 n, int64 k, double alpha);
extern double proportion_high(int64 n, int64 k, double alpha);
extern double chi_square_tail(double statistic, int freedom);
extern double chi_square_p(const int64 *observed, int cells);
extern double chi_square_two_p(const int64 *a, const int64 *b, int cells);
extern double lattice_tail(int64 sigma, int64 bound);
extern Rejection gaussian_rejection(int64 n0, int64 k0, int64 n1, int64 k1);
extern Rejection best_rejection(double *world0, int64 n0, double *world1, int64 n1);
extern double best_ratio(double *world0, int64 n0, double *world1, int64 n1);

/* a released number in lattice units, exactly */
static inline int64
lattice_units(double number)
{
	return (int64) rint(number * DP_LATTICE_ONE);
}

/* audit_world.c */
#define WORLD_DIGITS 4 /* word i is called "%04u" */

/* in a script, beside words */
#define WORLD_USER (-1)
#define WORLD_DOCUMENT 0

/* More than any world needs: nothing spills. */
#define WORLD_MEMORY ((Size) 256 * 1024 * 1024)

typedef struct World
{
	Vocabulary *vocabulary;
	uint32 words;
	int32 *script; /* WORLD_USER, tokens and WORLD_DOCUMENT */
	Size n;
	Size capacity;
} World;

typedef void (*WorldVisitor)(void *state, const ReleasedGram *gram);

/* How one release is run, and what it says of itself. */
typedef struct WorldRun
{
	Size memory; /* in bytes, for corpus and histogram each */
	int steps_done;
	double mu2[NGRAM_MAX_LENGTH + 1];
} WorldRun;

extern World *world_create(uint32 words);
extern void world_clear(World *world);
extern void world_user(World *world);
extern void world_word(World *world, uint32 word);
extern void world_end_document(World *world);
extern void world_words_user(World *world);
extern uint64 world_user_hash(uint64 user);
extern void world_run(const World *world, const NgramPlan *plan, Noise *noise,
					  const ExtractTrace *trace, WorldVisitor visit, void *state);
extern void world_run_union(const World *world, const SetUnionPlan *plan, Noise *noise,
							const ExtractTrace *trace, WorldVisitor visit, void *state);
extern void world_run_within(const World *world, const NgramPlan *plan, Noise *noise,
							 const ExtractTrace *trace, WorldVisitor visit, void *state,
							 WorldRun *run);
extern int world_gram(const char *text, int len, uint32 *word);
extern uint64 world_rank(const World *world, const char *text, int len);
extern NgramPlan world_plan(int max_length, NgramPruning pruning, double spurious);

/* audit_price.c: prices by their textbook forms */
extern long double normal_tail(long double z);
extern double lanes_delta(double mu2, double eps_pure, double delta_add, double epsilon);
extern double rho_delta(long double rho, double epsilon);
extern double lattice_slack(int64 sigma, int64 keys);

/* audit_module.c: what the engine's hooks have noted since audit_log_clear() */
typedef struct AuditDraw
{
	DpAuditKind kind;
	int level;
	int64 scale;
	int64 n;
} AuditDraw;

extern void audit_log_clear(void);
extern int64 audit_log_sigma(int level);
extern const AuditDraw *audit_log_draw(int i);
extern bool audit_log_changed(void);
extern int64 audit_log_spilled(void);
extern int audit_log_depth(void);

#endif /* DPNGRAM_AUDIT_LIBRARY_H */
