/*
 * audit_crowd.c
 *	  Crowds: users with their counts of a public vocabulary's n-grams, without texts, and
 *	  releases of distributions of them with the inside laid open.
 *
 * The hooks in src/dist show every step of a release, the vector before and after its
 * noise.  A release can also be replayed: each step is given the outcome that it had in
 * another one.  Then two populations can be compared given the same history, which is
 * what a proof of adaptive composition does; and if nothing but outcomes is used further
 * on, both have the same result, bit for bit.
 */
#include "postgres.h"

#include <math.h>

#include "utils/memutils.h"

#include "audit_crowd.h"
#include "common/dp_shrink.h"

/* More than any crowd needs. */
#define CROWD_MEMORY ((Size) 64 * 1024 * 1024)

/* ---- users and their counts ---- */

/* The public distribution is uniform until crowd_public() says otherwise. */
Crowd *
crowd_create(uint32 vocabulary)
{
	Crowd *crowd = palloc0(sizeof(Crowd));

	crowd->grams.n = 1;
	crowd->grams.size = vocabulary;
	crowd->grams.count = palloc(vocabulary * sizeof(int64));
	crowd->grams.probability = palloc(vocabulary * sizeof(double));
	crowd->capacity = 64;
	crowd->entry = palloc(crowd->capacity * sizeof(CrowdEntry));
	for (uint32 i = 0; i < vocabulary; i++)
		crowd->grams.count[i] = 1;
	crowd_public(crowd, 1, 1);
	return crowd;
}

void
crowd_public(Crowd *crowd, uint32 number, int64 count)
{
	PublicGrams *grams = &crowd->grams;
	double total = 0;

	grams->count[number - 1] = count;
	for (uint32 i = 0; i < grams->size; i++)
		total += grams->count[i];
	for (uint32 i = 0; i < grams->size; i++)
		grams->probability[i] = grams->count[i] / total;
}

/* A new user, to whom the counts belong that come next. */
uint32
crowd_user(Crowd *crowd)
{
	return crowd->users++;
}

void
crowd_count(Crowd *crowd, uint32 number, uint32 count)
{
	if (crowd->n == crowd->capacity)
	{
		crowd->capacity *= 2;
		crowd->entry = repalloc_huge(crowd->entry, crowd->capacity * sizeof(CrowdEntry));
	}
	crowd->entry[crowd->n++] = (CrowdEntry){crowd->users - 1, number, count};
}

uint64
crowd_hash(uint32 user)
{
	return dp_mix64(user, 1);
}

/*
 * The rows of all but one user (-1: of all), bounded as the query asks.  The former are in
 * a file, the latter in memory: who compares them sees that it makes no difference.
 */
GramRows *
crowd_rows(const Crowd *crowd, const DistQuery *query, uint64 key, int64 without)
{
	RowBuilder *builder = rows_begin(crowd->grams.size, dist_row_bounds(query), key,
									 without < 0 ? CROWD_MEMORY : 0);

	for (Size i = 0; i < crowd->n; i++)
	{
		const CrowdEntry *entry = &crowd->entry[i];

		if (entry->user == without)
			continue;
		if (i == 0 || entry[-1].user != entry->user)
			rows_begin_user(builder, crowd_hash(entry->user));
		rows_add_count(builder, entry->number, entry->count);
		if (i + 1 == crowd->n || entry[1].user != entry->user)
			rows_end_user(builder);
	}
	return rows_finish(builder);
}

/* ---- releases ---- */

static AuditRelease *current; /* NULL: nobody looks */
static const AuditRelease *replayed;

/* dp_audit_exact: a step begins. */
void
dp_audit_exact(DpAuditKind kind, int64 scale, const int64 *exact, size_t n)
{
	AuditStep *step;

	if (current == NULL)
		return;
	if (current->n == MAX_STEPS)
		elog(ERROR, "a release has more than %d steps", MAX_STEPS);
	step = &current->step[current->n++];
	*step = (AuditStep){kind, scale, (int) n, palloc(n * sizeof(int64)), NULL};
	memcpy(step->exact, exact, n * sizeof(int64));
}

/* dp_audit_outcome: the step ends with this. */
void
dp_audit_outcome(int64 *outcome, size_t n)
{
	AuditStep *step;

	if (current == NULL)
		return;
	step = &current->step[current->n - 1];
	if (replayed != NULL)
	{
		const AuditStep *other = &replayed->step[current->n - 1];

		if (current->n > replayed->n || other->kind != step->kind || other->n != step->n)
			elog(ERROR, "a release has other steps than the one that is replayed");
		memcpy(outcome, other->outcome, n * sizeof(int64));
	}
	step->outcome = palloc(n * sizeof(int64));
	memcpy(step->outcome, outcome, n * sizeof(int64));
}

/* dp_audit_chosen: likewise of a choice. */
void
dp_audit_chosen(int *candidate)
{
	int64 outcome = *candidate;

	dp_audit_outcome(&outcome, 1);
	*candidate = (int) outcome;
}

/* Release a world; "replay" may be NULL. */
void
crowd_release_world(DistWorld *world, Noise *noise, const AuditRelease *replay,
					AuditRelease *release)
{
	memset(release, 0, sizeof(*release));
	release->theta = palloc(world->grams->size * sizeof(double));
	current = release;
	replayed = replay;
	dist_world_release(world, noise, 0, release->theta, &release->report);
	current = NULL;
}

void
crowd_release_clear(AuditRelease *release)
{
	for (int i = 0; i < release->n; i++)
	{
		pfree(release->step[i].exact);
		pfree(release->step[i].outcome);
	}
	pfree(release->theta);
}

/* Release rows once. */
void
crowd_release(const Crowd *crowd, const DistPlan *plan, GramRows *rows, Noise *noise,
			  const AuditRelease *replay, AuditRelease *release)
{
	DistWorld world;

	dist_world_init(&world, plan, &crowd->grams, rows, -1, noise);
	crowd_release_world(&world, noise, replay, release);
}

/* ---- without answers ---- */

bool crowd_answers = true;

/* The linker calls these so where it is told to wrap dp_shrink(). */
extern DpStatus __real_dp_shrink(const DpShrinkInput *in, double *theta, DpShrinkReport *report);
extern DpStatus __wrap_dp_shrink(const DpShrinkInput *in, double *theta, DpShrinkReport *report);

DpStatus
__wrap_dp_shrink(const DpShrinkInput *in, double *theta, DpShrinkReport *report)
{
	if (crowd_answers)
		return __real_dp_shrink(in, theta, report);
	memset(report, 0, sizeof(*report));
	for (int64 i = 0; i < in->n; i++)
		theta[i] = 0;
	return DP_OK;
}

/* ---- plans ---- */

DistQuery
crowd_query(DistMethod method, double epsilon, double delta)
{
	return (DistQuery){
		.method = method,
		.epsilon = epsilon,
		.delta = delta,
		.max_count = PG_INT32_MAX,
		.max_contributions = DP_MAX_KEYS,
		.norm_share = 0.05,
		.slope = 0.1,
		.weight = 0.7,
		.center = NAN,
		.train_share = 0.9};
}

static void
weaken(DistNoise *noise)
{
	noise->scale = noise->scale * 20 / 21;
}

/* The plan, with the sabotages that are not the engine's; false if there is none. */
bool
crowd_plan(const DistQuery *query, DistSplit split, DistPlan *plan)
{
	if (dist_plan(query, split, plan) != DP_OK)
		return false;
	if (DP_SABOTAGED(SABOTAGE_LITTLE_NOISE))
	{
		weaken(&plan->side);
		weaken(&plan->main);
	}
	if (DP_SABOTAGED(SABOTAGE_UNDEBITED))
		plan->side.amount = 0;
	return true;
}

DistMethod
crowd_method(const char *name)
{
	DistMethod method;

	if (!dist_method_by_name(name, &method))
		elog(ERROR, "unknown method \"%s\"", name);
	return method;
}

double
plan_debit(const DistPlan *plan)
{
	return plan->side.amount + plan->nmain * plan->main.amount;
}

int64
plan_unit(const DistPlan *plan)
{
	return INT64CONST(1)
		   << (plan->query.method == DIST_LAPLACE_PUBLIC ? DIST_PUBLIC_BITS : DP_LATTICE_BITS);
}
