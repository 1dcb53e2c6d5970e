/*
 * rappor.c
 *	  Frequent terms by A-RAPPOR: the plan, the client's half, and the order of the
 *	  server's steps.
 *
 * A term is cut into n-grams, padded by SYMBOL_END.  A user reports three Bloom filters,
 * a third of epsilon each: of the n-grams at two positions, which the user's place alone
 * decides, and of the whole term.  From the n-grams the server learns candidates
 * (rappor_grams.c: which n-grams are frequent at a position; rappor_em.c: which of two
 * positions occur together; rappor_graph.c: terms all of whose n-grams do), and from the
 * whole terms' filters how many users have each (rappor_fit.c).
 *
 * Privacy.  Place, pair of positions and cohort say nothing about the term, and the three
 * filters are reported independently: their ratios (bloom.c) multiply to at most
 * (e^(epsilon/3))^3.  A user without a term, or with one longer than max_length, reports
 * the empty filter three times, which differs from every other in fewer bits than two
 * terms can.  All that the server does is post-processing.
 */
#include "common/dp_base.h"

#include <math.h>

#include "local/rappor_parts.h"

#define DEFAULT_GRAM 2
#define DEFAULT_BITS 64
#define DEFAULT_HASHES 1
#define DEFAULT_COHORTS 64
/*
 * A term needs every pair of its n-grams, and a false one would have to be wrong in all of
 * them: so thresholds before the last are low.
 */
#define DEFAULT_Z_GRAMS 1.0
#define DEFAULT_Z_PAIRS 0.25
#define DEFAULT_Z_TERMS 2.0
#define DEFAULT_CANDIDATES 64
#define DEFAULT_CLIQUES 100000
/* after so many the terms that are found change no more (simulations, epsilon 4 and 8) */
#define DEFAULT_ITERATIONS 40
#define DEFAULT_MAX_WORK 2e10

/* The query with everything else as it is usually right. */
RapporQuery
rappor_defaults(const LocalQuery *query)
{
	return (RapporQuery){.base = *query,
						 .gram = DEFAULT_GRAM,
						 .bits = DEFAULT_BITS,
						 .hashes = DEFAULT_HASHES,
						 .cohorts = DEFAULT_COHORTS,
						 .z_grams = DEFAULT_Z_GRAMS,
						 .z_pairs = DEFAULT_Z_PAIRS,
						 .z_terms = DEFAULT_Z_TERMS,
						 .candidates = DEFAULT_CANDIDATES,
						 .cliques = DEFAULT_CLIQUES,
						 .iterations = DEFAULT_ITERATIONS,
						 .max_work = query->max_work > 0 ? query->max_work : DEFAULT_MAX_WORK};
}

static bool
in_domain(const RapporQuery *query)
{
	return query->base.k >= 1 && query->base.alphabet >= 1 &&
		   query->base.alphabet <= ALPHABET_MAX_SIZE && query->base.max_length >= 1 &&
		   query->base.max_length <= TERM_MAX_LENGTH && query->gram >= 1 &&
		   query->gram <= RAPPOR_MAX_GRAM && query->cohorts >= 1 &&
		   query->cohorts <= RAPPOR_MAX_COHORTS && query->z_grams >= 0 && query->z_pairs >= 0 &&
		   query->z_terms >= 0 && query->candidates >= 1 &&
		   query->candidates <= RAPPOR_MAX_CANDIDATES && query->cliques >= 1 &&
		   query->cliques <= RAPPOR_MAX_CLIQUES && query->iterations >= 1 &&
		   query->iterations <= RAPPOR_MAX_ITERATIONS && query->max_work > 0;
}

/*
 * What follows from a query.  Errors: DP_ERR_DOMAIN; DP_ERR_RANGE where there are too many
 * n-grams, or positions of them, for this method.
 */
DpStatus
rappor_plan(const RapporQuery *query, RapporPlan *plan)
{
	double part = query->base.epsilon / RAPPOR_PARTS;
	double grams = pow(query->base.alphabet + 1, query->gram);
	DpStatus status;

	*plan = (RapporPlan){.query = *query};
	if (!in_domain(query))
		return DP_ERR_DOMAIN;
	if (query->lifetime != 0)
		status = bloom_repeated(part, query->lifetime / RAPPOR_PARTS, query->bits,
								query->hashes, &plan->bloom);
	else
		status = bloom_once(part, query->bits, query->hashes, &plan->bloom);
	if (status != DP_OK)
		return status;
	plan->positions = Max(2, (query->base.max_length + query->gram - 1) / query->gram);
	if (grams > RAPPOR_MAX_GRAMS || plan->positions > RAPPOR_MAX_POSITIONS)
		return DP_ERR_RANGE;
	plan->grams = (uint32) grams;
	plan->pairs = plan->positions * (plan->positions - 1) / 2;
	return DP_OK;
}

/* The positions of a pair, and back: 0 1, 0 2, ..., 1 2, ... */
void
rappor_pair_positions(const RapporPlan *plan, int pair, int *first, int *second)
{
	int i = 0;

	for (int seconds = plan->positions - 1; pair >= seconds; seconds--, i++)
		pair -= seconds;
	*first = i;
	*second = i + 1 + pair;
}

int
rappor_pair_of(const RapporPlan *plan, int first, int second)
{
	return first * (2 * plan->positions - first - 1) / 2 + second - first - 1;
}

/* ---- the client's half ---- */

/* The symbols of a role: the whole term, an n-gram of it, or nothing. */
static int
role_symbols(const RapporPlan *plan, const LocalTerm *term, uint32 role, uint16 *symbol)
{
	int n = role == ROLE_TERM ? term->length : plan->query.gram;
	int from = role == ROLE_TERM ? 0 : (int) (role - 1) * n;

	if (term->length == 0 || term->length > plan->query.base.max_length)
		return 0;
	for (int i = 0; i < n; i++)
		symbol[i] = from + i < term->length ? term->symbol[from + i] : SYMBOL_END;
	return n;
}

/*
 * One user's report.  The secret is needed where there are permanent bits, and may be NULL
 * else.  Errors: as of bloom_permanent().
 */
DpStatus
rappor_client(const RapporPlan *plan, int64 place, const LocalTerm *term, const uint8 *secret,
			  int secret_length, DpRandom *rng, RapporReport *report)
{
	uint16 symbol[TERM_MAX_LENGTH];
	uint32 role[RAPPOR_PARTS];
	int cohort = rappor_cohort(plan, place);
	int first;
	int second;
	DpStatus status = DP_OK;

	rappor_pair_positions(plan, rappor_pair(plan, place), &first, &second);
	role[0] = ROLE_GRAM(first);
	role[1] = ROLE_GRAM(second);
	role[2] = ROLE_TERM;
	report->place = place;
	for (int part = 0; part < RAPPOR_PARTS && status == DP_OK; part++)
	{
		int n = role_symbols(plan, term, role[part], symbol);
		uint64 bits = 0;

		if (n > 0)
			bits = bloom_item_bits(&plan->bloom, cohort, role[part], oracle_item(symbol, n));
		if (plan->bloom.flip != 0)
			status = bloom_permanent(&plan->bloom, secret, secret_length, cohort, role[part],
									 symbol, n, bits, &bits);
		if (status == DP_OK)
			report->bits[part] = bloom_answer(&plan->bloom, rng, bits);
	}
	return status;
}

/* ---- the server's half ---- */

/* The counts of each role's filters; counts[ROLE_TERM], counts[ROLE_GRAM(position)]. */
static RapporCounts *
count_reports(const RapporPlan *plan, const RapporReport *reports, int64 n)
{
	RapporCounts *counts = palloc((plan->positions + 1) * sizeof(RapporCounts));

	for (int role = 0; role <= plan->positions; role++)
		rappor_counts_init(plan, &counts[role]);
	for (int64 i = 0; i < n; i++)
	{
		int cohort = rappor_cohort(plan, reports[i].place);
		int first;
		int second;

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		rappor_pair_positions(plan, rappor_pair(plan, reports[i].place), &first, &second);
		rappor_counts_add(plan, &counts[ROLE_GRAM(first)], cohort, reports[i].bits[0]);
		rappor_counts_add(plan, &counts[ROLE_GRAM(second)], cohort, reports[i].bits[1]);
		rappor_counts_add(plan, &counts[ROLE_TERM], cohort, reports[i].bits[2]);
	}
	for (int role = 0; role <= plan->positions; role++)
		rappor_counts_finish(plan, &counts[role]);
	return counts;
}

/*
 * The edges of each pair of positions.  The work is added up before any is done; errors:
 * DP_ERR_RANGE if it is more than max_work.
 */
static DpStatus
join_pairs(const RapporPlan *plan, const RapporReport *reports, int64 n,
		   const RapporPosition *positions, RapporEdges *edges)
{
	double work = 0;

	for (int pair = 0; pair < plan->pairs; pair++)
	{
		work += rappor_pair_work(plan, reports, n, pair, positions);
		if (work > plan->query.max_work)
			return DP_ERR_RANGE;
	}
	for (int pair = 0; pair < plan->pairs; pair++)
	{
		RapporJoint joint;

		rappor_pair_estimate(plan, reports, n, pair, positions, &joint);
		rappor_edges_init(plan, &joint, &edges[pair]);
		rappor_joint_free(&joint);
	}
	return DP_OK;
}

/* The symbols of a clique's n-grams, up to the first SYMBOL_END. */
static void
word_of(const RapporPlan *plan, const RapporPosition *positions, const uint16 *member,
		RapporWord *word)
{
	*word = (RapporWord){.length = 0};
	for (int position = 0; position < plan->positions; position++)
		word->length += rappor_gram_symbols(plan, positions[position].gram[member[position]],
											word->symbol + word->length);
}

/* Larger estimates first, ties by symbols. */
static int
compare_words(const void *a, const void *b)
{
	const RapporWord *left = a;
	const RapporWord *right = b;

	if (left->estimate != right->estimate)
		return left->estimate > right->estimate ? -1 : 1;
	for (int i = 0; i < Min(left->length, right->length); i++)
		if (left->symbol[i] != right->symbol[i])
			return left->symbol[i] < right->symbol[i] ? -1 : 1;
	return left->length - right->length;
}

/* The words of all cliques; where they are too many for a fit, the likeliest of them. */
static RapporWord *
words_of(const RapporPlan *plan, const RapporPosition *positions, const RapporCliques *cliques,
		 const RapporCounts *counts, int *n)
{
	RapporWord *words = palloc(Max(cliques->n, 1) * sizeof(RapporWord));

	for (int i = 0; i < cliques->n; i++)
	{
		word_of(plan, positions, cliques->member + (int64) i * plan->positions, &words[i]);
		words[i].estimate =
			rappor_counts_estimate(plan, counts, ROLE_TERM,
								   oracle_item(words[i].symbol, words[i].length),
								   &words[i].stddev);
	}
	qsort(words, cliques->n, sizeof(RapporWord), compare_words);
	*n = Min(cliques->n, RAPPOR_MAX_FITTED);
	return words;
}

/* The k most frequent of the words whose numbers of users are above their noise. */
static void
take_best(const RapporPlan *plan, RapporWord *words, int n, LocalResult *result)
{
	qsort(words, n, sizeof(RapporWord), compare_words);
	result->n = 0;
	result->found = palloc(Max(1, Min(n, plan->query.base.k)) * sizeof(LocalFound));
	for (int i = 0; i < n && result->n < plan->query.base.k; i++)
	{
		LocalFound *found = &result->found[result->n];

		if (words[i].estimate <= plan->query.z_terms * words[i].stddev)
			continue;
		result->n++;
		found->length = words[i].length;
		found->symbol = palloc(words[i].length * sizeof(uint16));
		memcpy(found->symbol, words[i].symbol, words[i].length * sizeof(uint16));
		found->estimate = words[i].estimate;
		found->stddev = words[i].stddev;
	}
}

/* Cliques, words, their numbers of users; errors: DP_ERR_RANGE for too many cliques. */
static DpStatus
find_words(const RapporPlan *plan, const RapporPosition *positions, const RapporEdges *edges,
		   const RapporCounts *counts, LocalResult *result)
{
	RapporCliques cliques;
	RapporWord *words;
	int n;
	DpStatus status = rappor_cliques(plan, positions, edges, &cliques);

	if (status == DP_OK)
	{
		words = words_of(plan, positions, &cliques, counts, &n);
		rappor_fit(plan, counts, words, n);
		take_best(plan, words, n, result);
		pfree(words);
	}
	pfree(cliques.member);
	return status;
}

/* Has it no more bits than the plan?  Whatever place it claims, it counts as one report. */
static bool
is_valid(const RapporPlan *plan, const RapporReport *report)
{
	for (int part = 0; part < RAPPOR_PARTS; part++)
		if (plan->query.bits < BLOOM_MAX_BITS && report->bits[part] >> plan->query.bits != 0)
			return false;
	return true;
}

/* Moves the valid reports to the front; returns their number. */
static int64
keep_valid(const RapporPlan *plan, RapporReport *reports, int64 n)
{
	int64 valid = 0;

	for (int64 i = 0; i < n; i++)
		if (is_valid(plan, &reports[i]))
			reports[valid++] = reports[i];
	return valid;
}

/*
 * What so many reports say; those that are not of this plan are moved to the end, and
 * counted.  Errors: DP_ERR_RANGE if it takes more work than max_work, or more partial terms
 * than cliques, allow.
 */
DpStatus
rappor_decode(const RapporPlan *plan, RapporReport *reports, int64 n, int64 *invalid,
			  LocalResult *result)
{
	int64 valid = keep_valid(plan, reports, n);
	RapporCounts *counts = count_reports(plan, reports, valid);
	RapporPosition *positions = palloc(plan->positions * sizeof(RapporPosition));
	RapporEdges *edges = palloc0(plan->pairs * sizeof(RapporEdges));
	DpStatus status;

	*invalid = n - valid;
	*result = (LocalResult){.n = 0};
	for (int i = 0; i < plan->positions; i++)
		rappor_position_init(plan, i, &counts[ROLE_GRAM(i)], &positions[i]);
	status = join_pairs(plan, reports, valid, positions, edges);
	if (status == DP_OK)
		status = find_words(plan, positions, edges, &counts[ROLE_TERM], result);
	for (int pair = 0; pair < plan->pairs; pair++)
		if (edges[pair].joined != NULL)
			pfree(edges[pair].joined);
	for (int i = 0; i < plan->positions; i++)
		rappor_position_free(&positions[i]);
	for (int role = 0; role <= plan->positions; role++)
		rappor_counts_free(&counts[role]);
	pfree(edges);
	pfree(positions);
	pfree(counts);
	return status;
}

/* ---- both halves ---- */

typedef struct Collection
{
	const RapporPlan *plan;
	DpRandom *rng;
	RapporReport *reports;
	int64 n;
} Collection;

static void
collect(void *state, int64 place, const LocalTerm *term)
{
	Collection *collection = state;

	/* without permanent bits nothing can fail */
	(void) rappor_client(collection->plan, place, term, NULL, 0, collection->rng,
						 &collection->reports[collection->n++]);
}

/*
 * From those who were asked to all users: of a term's users a random part was asked, the
 * number of which varies like a draw without replacement.
 */
static void
scale_up(LocalResult *result, double by)
{
	for (int i = 0; i < result->n; i++)
	{
		LocalFound *found = &result->found[i];

		found->estimate *= by;
		found->stddev = sqrt(found->stddev * found->stddev * by * by +
							 found->estimate * (by - 1));
	}
}

/*
 * One collection among the users of a poll; the estimates are of all of them, those before
 * the first place included.  Errors: those of rappor_plan() and rappor_decode();
 * DP_ERR_DOMAIN for a lifetime, which only clients with secrets can keep.
 */
DpStatus
rappor_run(const RapporQuery *query, const Poll *poll, DpRandom *rng, LocalResult *result)
{
	RapporPlan plan;
	Collection collection = {.plan = &plan, .rng = rng};
	int64 asked = poll->users - query->first;
	int64 invalid;
	DpStatus status = rappor_plan(query, &plan);

	*result = (LocalResult){.n = 0};
	if (status != DP_OK)
		return status;
	if (query->lifetime != 0 || query->first < 0 || asked < 0)
		return DP_ERR_DOMAIN;
	collection.reports = local_alloc_huge(Max(asked, 1) * sizeof(RapporReport));
	poll->visit(poll->state, query->first, poll->users, collect, &collection);
	status = rappor_decode(&plan, collection.reports, collection.n, &invalid, result);
	if (asked > 0)
		scale_up(result, (double) poll->users / (double) asked);
	pfree(collection.reports);
	return status;
}
