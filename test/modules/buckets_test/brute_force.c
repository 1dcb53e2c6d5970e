/*
 * brute_force.c
 *	  Small worlds in which V_k is built member by member, by its definition.
 *
 * The definition (DPNE paper, section 2): with both-side pruning V_k holds the
 * sequences of k words whose prefix and suffix of k - 1 words are in S_{k-1};
 * with single-side pruning those whose prefix is there and whose last word is
 * in S_1.  Nothing here knows of runs or partners but the key's form.
 */
#include "postgres.h"

#include <math.h>

#include "brute_force.h"

/* Weights as noise leaves them, and as it never does: equal, tiny, huge, not positive. */
double
any_weight(DpRandom *rng, int scheme)
{
	switch (scheme)
	{
		case 0:
			return 3;
		case 1: /* ties, and products that are the same in many ways */
			return ldexp(1, (int) dp_uniform(rng, 5) - 2);
		case 2:
			return (double) dp_uniform(rng, 6) - 2;
		case 3: /* a lattice's values */
			return ((double) dp_uniform(rng, 1 << 28) - (1 << 22)) / DP_LATTICE_ONE;
		case 4: /* products that underflow */
			return ldexp(1.0 + (double) dp_uniform(rng, 4), -(int) dp_uniform(rng, 1070));
		case 5: /* products that overflow */
			return ldexp(1.0 + (double) dp_uniform(rng, 4), (int) dp_uniform(rng, 1015));
		default: /* SMOOTH_WEIGHTS: no two are equal */
			return exp((double) dp_uniform(rng, 1 << 20) / (1 << 17));
	}
}

/* The number of the gram of length k - 1 that is the prefix. */
static inline uint32
prefix_number(const World *world, int k, uint32 place)
{
	return world->number[k - 1][place / world->words];
}

/* The number of what makes a gram of its prefix: the suffix, or the last word. */
static inline uint32
other_number(const World *world, int k, uint32 place)
{
	if (world->pruning == PRUNING_SINGLE)
		return world->number[1][place % world->words];
	return world->number[k - 1][place % world->places[k - 1]];
}

static uint64
key_of(const World *world, int k, uint32 place)
{
	uint64 prefix = prefix_number(world, k, place);
	uint64 other = other_number(world, k, place);

	return prefix == 0 || other == 0 ? 0 : prefix << 32 | other;
}

static double
weight_of(const World *world, int k, uint32 number)
{
	return world->set[k]->weight[number - 1].value;
}

static double
predict(const World *world, uint32 place)
{
	int k = world->k;
	double left = weight_of(world, k - 1, prefix_number(world, k, place));
	double right = weight_of(world, world->pruning == PRUNING_SINGLE ? 1 : k - 1,
							 other_number(world, k, place));
	double middle = 0;

	if (k > 2 && world->pruning == PRUNING_BOTH)
	{
		uint32 inner = place / world->words % world->places[k - 2];

		middle = weight_of(world, k - 2, world->number[k - 2][inner]);
	}
	else
	{
		for (uint32 i = 0; i < world->words; i++)
			middle += fmax(world->set[1]->weight[i].value, 0);
	}
	return left <= 0 || right <= 0 || middle <= 0 ? 0 : left * right / middle;
}

/* S_length: a random part of V_length. */
static void
make_set(World *world, DpRandom *rng, const WorldShape *shape, int length)
{
	uint32 places = world->places[length];
	uint64 share = shape->share == 0 ? 5 + dp_uniform(rng, 96) : shape->share;
	GramSet *set = gramset_create(length);

	for (uint32 place = 0; place < places; place++)
	{
		uint64 key = length == 1 ? place + 1 : key_of(world, length, place);

		if (key != 0 && (length == 1 || dp_uniform(rng, 100) < share))
			gramset_add(set, key, (GramWeight){any_weight(rng, shape->scheme), 1});
	}
	gramset_sort(set);
	world->set[length] = set;
	world->number[length] = palloc0(places * sizeof(uint32));
	for (uint32 place = 0; place < places; place++)
	{
		uint64 key = length == 1 ? place + 1 : key_of(world, length, place);

		for (uint32 i = 0; i < set->n; i++)
		{
			if (set->key[i] == key)
				world->number[length][place] = i + 1;
		}
	}
}

World *
world_create(DpRandom *rng, const WorldShape *shape)
{
	World *world = palloc0(sizeof(World));
	int k = shape->k;

	Assert(k > 1 && k <= WORLD_LENGTH);
	world->pruning = shape->pruning;
	world->words = shape->words;
	world->k = k;
	world->places[0] = 1;
	for (int length = 1; length <= k; length++)
		world->places[length] = world->places[length - 1] * shape->words;
	for (int length = 1; length < k; length++)
		make_set(world, rng, shape, length);

	world->key = palloc(world->places[k] * sizeof(uint64));
	world->prediction = palloc(world->places[k] * sizeof(double));
	for (uint32 place = 0; place < world->places[k]; place++)
	{
		uint64 key = key_of(world, k, place);

		if (key == 0)
			continue;
		world->key[world->n] = key;
		world->prediction[world->n++] = predict(world, place);
	}
	return world;
}

void
world_free(World *world)
{
	for (int length = 1; length < world->k; length++)
	{
		pfree(world->set[length]->key);
		pfree(world->set[length]->weight);
		pfree(world->set[length]);
		pfree(world->number[length]);
	}
	pfree(world->key);
	pfree(world->prediction);
	pfree(world);
}
