/*
 * forecast.c
 *	  How many n-grams of the next lengths there may be, by weight, judging by what is
 *	  released.
 *
 * An n-gram of length k + j is a path of j + 2 members of S_{k-1}, each of which begins as
 * the one before it ends.  As a Markov chain has it, its weight is that of the first
 * member times, for each other member g, the share h(g) / h(prefix of g).  Where members
 * have nothing in common (at k = 2, and under single-side pruning), the members after
 * the first are words, with shares h(word) / sum of S_1.
 *
 * Paths are not walked but counted: by the node of S_{k-2} in which they end, and by their
 * weight in bins of half an octave.  Of nodes the heaviest NODES are kept, which bounds the
 * memory and loses light paths only.
 */
#include "common/dp_base.h"

#include <math.h>

#include "ngram/forecast.h"

#ifdef FRONTEND
#define CHECK_FOR_INTERRUPTS() ((void) 0)
#else
#include "miscadmin.h"
#endif

#define NODES (1 << 15)

/* Paths of a weight to one node: more make no difference, and floats must not overflow. */
#define MOST_PATHS 1e30f

/* h(g) estimates a share of h(prefix); noise can make it larger than it ever is. */
#define MOST_SHARE 0.5

typedef struct Node
{
	float paths[FORECAST_BINS];
} Node;

/* Members of S_{k-1} as edges between nodes. */
typedef struct Chain
{
	const ScheduleSet *edges;
	const ScheduleSet *nodes;
	uint32 *place; /* of a node among those kept, from 1; 0: not kept */
	int8 *shift;   /* of an edge: bins from its prefix's weight down to its own */
	Node *ending;  /* paths so far */
	Node *longer;  /* with one edge more */
	uint32 kept;
} Chain;

double
forecast_weight(const Forecast *forecast, int bin)
{
	return forecast->least * exp2(bin / 2.0);
}

/* The bin of a weight, or -1. */
static int
weight_bin(const Forecast *forecast, double weight)
{
	double bin;

	if (!(weight > 0))
		return -1;
	bin = rint(2 * log2(weight / forecast->least));
	return bin < 0 ? -1 : (int) Min(bin, FORECAST_BINS - 1);
}

/* How many bins a share takes a weight down: 0 .. FORECAST_BINS, the last for all of them. */
static int
share_bins(double share, double most)
{
	double bins;

	if (!(share > 0))
		return FORECAST_BINS;
	bins = -rint(2 * log2(Min(share, most)));
	return (int) Min(bins, FORECAST_BINS);
}

/* ------------------------------------------------------------------------
 * members that have nothing in common
 * ------------------------------------------------------------------------ */

static void
forecast_words(const ScheduleInput *in, Forecast *forecast)
{
	double words[FORECAST_BINS + 1] = {0}; /* by the bins that they take a weight down */
	double before[FORECAST_BINS] = {0};
	double sum = 0;

	for (uint32 i = 0; i < in->words.n; i++)
		sum += Max(in->words.weight[i].value, 0);
	for (uint32 i = 0; i < in->words.n; i++)
		words[share_bins(in->words.weight[i].value / sum, 1)]++;
	for (uint32 i = 0; i < in->previous.n; i++)
	{
		int bin = weight_bin(forecast, in->previous.weight[i].value);

		if (bin >= 0)
			before[bin]++;
	}
	for (int j = 0; j < forecast->levels; j++)
	{
		for (int bin = 0; bin < FORECAST_BINS; bin++)
			for (int down = 0; down <= bin; down++)
				forecast->count[j][bin - down] += before[bin] * words[down];
		for (int bin = 0; bin < FORECAST_BINS; bin++)
			before[bin] = forecast->count[j][bin] = Min(forecast->count[j][bin], MOST_PATHS);
	}
}

/* ------------------------------------------------------------------------
 * members chained by what they have in common
 * ------------------------------------------------------------------------ */

/* Number the heaviest nodes, at most NODES. */
static void
keep_nodes(const Forecast *forecast, Chain *chain)
{
	uint32 count[FORECAST_BINS] = {0};
	uint32 sum = 0;
	int lowest = FORECAST_BINS;

	for (uint32 i = 0; i < chain->nodes->n; i++)
	{
		int bin = weight_bin(forecast, chain->nodes->weight[i].value);

		if (bin >= 0)
			count[bin]++;
	}
	while (lowest > 0 && sum + count[lowest - 1] <= NODES)
		sum += count[--lowest];
	chain->place = palloc_extended(sizeof(uint32) * ((Size) chain->nodes->n + 1),
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < chain->nodes->n; i++)
		if (weight_bin(forecast, chain->nodes->weight[i].value) >= lowest)
			chain->place[i + 1] = ++chain->kept;
}

static inline uint32
prefix_place(const Chain *chain, uint32 edge)
{
	return chain->place[chain->edges->key[edge] >> 32];
}

static inline uint32
suffix_place(const Chain *chain, uint32 edge)
{
	return chain->place[(uint32) chain->edges->key[edge]];
}

/* Each edge is a path. */
static void
start_paths(const Forecast *forecast, Chain *chain)
{
	for (uint32 i = 0; i < chain->edges->n; i++)
	{
		double weight = chain->edges->weight[i].value;
		double prefix = chain->nodes->weight[(chain->edges->key[i] >> 32) - 1].value;
		uint32 end = suffix_place(chain, i);
		int bin = weight_bin(forecast, weight);

		chain->shift[i] = (int8) share_bins(prefix > 0 ? weight / prefix : 0, MOST_SHARE);
		if (end > 0 && bin >= 0)
			chain->ending[end - 1].paths[bin]++;
	}
}

/* Make all paths one edge longer; count them by weight. */
static void
lengthen(Chain *chain, double *count)
{
	Node *longer = chain->longer;

	memset(longer, 0, sizeof(Node) * chain->kept);
	for (uint32 i = 0; i < chain->edges->n; i++)
	{
		uint32 from = prefix_place(chain, i);
		uint32 to = suffix_place(chain, i);

		CHECK_FOR_INTERRUPTS();
		for (int bin = chain->shift[i]; from > 0 && bin < FORECAST_BINS; bin++)
		{
			float paths = chain->ending[from - 1].paths[bin];

			count[bin - chain->shift[i]] += paths;
			if (to > 0)
				longer[to - 1].paths[bin - chain->shift[i]] += paths;
		}
	}
	for (uint32 i = 0; i < chain->kept; i++)
		for (int bin = 0; bin < FORECAST_BINS; bin++)
			longer[i].paths[bin] = Min(longer[i].paths[bin], MOST_PATHS);
	chain->longer = chain->ending;
	chain->ending = longer;
}

static void
forecast_chain(const ScheduleInput *in, Forecast *forecast)
{
	Chain chain = {.edges = &in->previous, .nodes = &in->middles};

	keep_nodes(forecast, &chain);
	chain.shift = palloc_extended((Size) chain.edges->n + 1, MCXT_ALLOC_HUGE);
	chain.ending = palloc0(sizeof(Node) * (chain.kept + 1));
	chain.longer = palloc(sizeof(Node) * (chain.kept + 1));
	start_paths(forecast, &chain);
	for (int j = 0; j < forecast->levels; j++)
		lengthen(&chain, forecast->count[j]);
	pfree(chain.place);
	pfree(chain.shift);
	pfree(chain.ending);
	pfree(chain.longer);
}

/* "least" is the lowest weight that matters. */
void
forecast_make(const ScheduleInput *in, int k, double least, Forecast *forecast)
{
	memset(forecast, 0, sizeof(*forecast));
	forecast->levels = in->max_length - k + 1;
	forecast->least = least;
	if (k == 2 || in->single_side)
		forecast_words(in, forecast);
	else
		forecast_chain(in, forecast);
}
