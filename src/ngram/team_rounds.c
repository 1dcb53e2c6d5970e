/*
 * team_rounds.c
 *	  Rounds over users who are divided among processes: the n-grams of all, with the
 *	  sums of each process added up.
 *
 * Each member of a team keeps its users' lists itself (rounds.c) and numbers its n-grams as
 * it likes.  Here each n-gram of the level stands once, with what is known of it, and
 * each member's n-grams are a sequence of places here: so in the rounds
 * nothing but weights and biases travels, and nothing is looked up by its key.
 *
 * While everything fits into memory there is one part.  Else the n-grams are divided into
 * parts by leading bits of their contents, one of which is in memory at a time; which
 * part each of a member's n-grams is in stands in a file, by which what the member sends
 * is divided among the parts and what it gets is put together again.  All of these files
 * are read and written from their beginning to their end.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "common/dp_weights.h"
#include "ngram/round_parts.h"
#include "ngram/team_rounds.h"

#define MAX_BITS 6

/* What an n-gram takes while places are looked up, with its place in a member's sequence. */
#define BYTES_OF_ITEM 160

/* An n-gram in the present round. */
typedef struct TeamTally
{
	int64 weight;
	int bias;
} TeamTally;

/* An n-gram's place while n-grams are added. */
typedef struct PlaceEntry
{
	ItemKey item;
	uint32 place;
	char status;
} PlaceEntry;

#define SH_PREFIX places
#define SH_ELEMENT_TYPE PlaceEntry
#define SH_KEY_TYPE ItemKey
#define SH_KEY item
#define SH_HASH_KEY(tb, k) ((uint32) dp_splitmix_finish((k).key))
#define SH_EQUAL(tb, a, b) ((a).key == (b).key && (a).content == (b).content)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* What one member has in one part, if there are several: files. */
typedef struct MemberPart
{
	BufFile *items; /* ItemKey; until they have places */
	BufFile *places;
	BufFile *weights;
	BufFile *biases;
	uint64 n;
} MemberPart;

typedef struct Member
{
	uint64 size;   /* n-grams */
	uint64 passed; /* of the sequence that is sent or got at present */

	uint32 *place; /* in the one part */
	Size capacity;

	BufFile *order; /* the part of each n-gram, uint8 */
	MemberPart *part;
} Member;

/* N-grams that are in memory at one time. */
typedef struct TeamPart
{
	places_hash *table; /* while n-grams are added */
	uint32 n;
	RoundGram *gram;
	TeamTally *tally;
	BufFile *parked; /* both, if there are other parts */
} TeamPart;

struct TeamRounds
{
	MemoryContext context;
	int members;
	int bits; /* of contents decide on the part */
	Member *member;
	TeamPart *part;
};

/* ------------------------------------------------------------------------
 * parts
 * ------------------------------------------------------------------------ */

static inline int
parts_of(const TeamRounds *rounds)
{
	return 1 << rounds->bits;
}

static void
open_table(TeamPart *part)
{
	part->table = places_create(CurrentMemoryContext, 256, NULL);
}

static inline uint32
place_of(TeamPart *part, ItemKey item)
{
	bool found;
	PlaceEntry *entry = places_insert(part->table, item, &found);

	if (!found)
		entry->place = (uint32) part->table->members - 1;
	return entry->place;
}

/* Every n-gram has its place. */
static void
close_table(TeamPart *part)
{
	places_iterator iterator;
	PlaceEntry *entry;

	part->n = (uint32) part->table->members;
	part->gram = MemoryContextAllocHuge(CurrentMemoryContext,
										Max((Size) part->n, 1) * sizeof(RoundGram));
	places_start_iterate(part->table, &iterator);
	while ((entry = places_iterate(part->table, &iterator)) != NULL)
		part->gram[entry->place] = (RoundGram){.key = entry->item.key,
											   .content = entry->item.content};
	places_destroy(part->table);
	part->table = NULL;
	part->tally = MemoryContextAllocHuge(CurrentMemoryContext,
										 Max((Size) part->n, 1) * sizeof(TeamTally));
	for (uint32 i = 0; i < part->n; i++)
		part->tally[i] = (TeamTally){.weight = 0, .bias = DP_BIAS_ONE};
}

/* Leave the memory to another part. */
static void
park(TeamPart *part)
{
	if (part->parked == NULL)
		part->parked = BufFileCreateTemp(false);
	else
		round_file_rewind(part->parked);
	BufFileWrite(part->parked, part->gram, part->n * sizeof(RoundGram));
	BufFileWrite(part->parked, part->tally, part->n * sizeof(TeamTally));
	pfree(part->gram);
	pfree(part->tally);
	part->gram = NULL;
	part->tally = NULL;
}

static void
fetch(TeamPart *part)
{
	part->gram = MemoryContextAllocHuge(CurrentMemoryContext,
										Max((Size) part->n, 1) * sizeof(RoundGram));
	part->tally = MemoryContextAllocHuge(CurrentMemoryContext,
										 Max((Size) part->n, 1) * sizeof(TeamTally));
	round_file_rewind(part->parked);
	round_file_read(part->parked, part->gram, part->n * sizeof(RoundGram));
	round_file_read(part->parked, part->tally, part->n * sizeof(TeamTally));
}

static void
judge_part(TeamPart *part, RoundJudge judge, void *state)
{
	for (uint32 i = 0; i < part->n; i++)
	{
		TeamTally *tally = &part->tally[i];

		CHECK_FOR_INTERRUPTS();
		*tally = (TeamTally){.weight = 0,
							 .bias = judge(state, &part->gram[i], tally->bias, tally->weight)};
	}
}

/* ------------------------------------------------------------------------
 * members' n-grams
 * ------------------------------------------------------------------------ */

/* memory_limit: bytes; items: how many n-grams members will add, in all */
TeamRounds *
team_rounds_create(int members, uint64 items, Size memory_limit)
{
	TeamRounds *rounds = palloc0(sizeof(TeamRounds));

	rounds->context = CurrentMemoryContext;
	rounds->members = members;
	while (rounds->bits < MAX_BITS && (items >> rounds->bits) * BYTES_OF_ITEM > memory_limit)
		rounds->bits++;
	rounds->member = palloc0(members * sizeof(Member));
	rounds->part = palloc0(parts_of(rounds) * sizeof(TeamPart));
	if (rounds->bits == 0)
		open_table(&rounds->part[0]);
	for (int m = 0; m < members && rounds->bits > 0; m++)
	{
		Member *member = &rounds->member[m];

		member->order = BufFileCreateTemp(false);
		member->part = palloc0(parts_of(rounds) * sizeof(MemberPart));
		for (int p = 0; p < parts_of(rounds); p++)
		{
			member->part[p].items = BufFileCreateTemp(false);
			member->part[p].weights = BufFileCreateTemp(false);
			member->part[p].biases = BufFileCreateTemp(false);
		}
	}
	return rounds;
}

static void
add_places(TeamPart *part, Member *member, const ItemKey *item, Size n)
{
	if (member->size + n > member->capacity)
	{
		member->capacity = Max(2 * member->capacity, member->size + n);
		member->place = member->place == NULL ?
							MemoryContextAllocHuge(CurrentMemoryContext,
												   member->capacity * sizeof(uint32)) :
							repalloc_huge(member->place, member->capacity * sizeof(uint32));
	}
	for (Size i = 0; i < n; i++)
		member->place[member->size + i] = place_of(part, item[i]);
}

/* The next n-grams of a member. */
void
team_rounds_add(TeamRounds *rounds, int m, const ItemKey *item, Size n)
{
	Member *member = &rounds->member[m];
	MemoryContext old = MemoryContextSwitchTo(rounds->context);

	if (rounds->bits == 0)
		add_places(&rounds->part[0], member, item, n);
	for (Size i = 0; i < n && rounds->bits > 0; i++)
	{
		uint8 p = (uint8) (item[i].content >> (64 - rounds->bits));

		BufFileWrite(member->order, &p, sizeof(p));
		BufFileWrite(member->part[p].items, unconstify(ItemKey *, &item[i]), sizeof(ItemKey));
		member->part[p].n++;
	}
	member->size += n;
	MemoryContextSwitchTo(old);
}

/* Look up the places of all of a part's n-grams. */
static void
place_part(TeamRounds *rounds, int p)
{
	TeamPart *part = &rounds->part[p];

	open_table(part);
	for (int m = 0; m < rounds->members; m++)
	{
		MemberPart *mine = &rounds->member[m].part[p];

		mine->places = BufFileCreateTemp(false);
		round_file_rewind(mine->items);
		for (uint64 i = 0; i < mine->n; i++)
		{
			ItemKey item;
			uint32 place;

			CHECK_FOR_INTERRUPTS();
			round_file_read(mine->items, &item, sizeof(item));
			place = place_of(part, item);
			BufFileWrite(mine->places, &place, sizeof(place));
		}
		BufFileClose(mine->items);
		mine->items = NULL;
	}
	close_table(part);
	park(part);
}

/* All n-grams are there. */
void
team_rounds_finish(TeamRounds *rounds)
{
	MemoryContext old = MemoryContextSwitchTo(rounds->context);

	if (rounds->bits == 0)
		close_table(&rounds->part[0]);
	for (int p = 0; p < parts_of(rounds) && rounds->bits > 0; p++)
		place_part(rounds, p);
	for (int m = 0; m < rounds->members && rounds->bits > 0; m++)
		round_file_rewind(rounds->member[m].order);
	MemoryContextSwitchTo(old);
}

/* How many n-grams the member has. */
uint64
team_rounds_size(const TeamRounds *rounds, int member)
{
	return rounds->member[member].size;
}

/* ------------------------------------------------------------------------
 * a round
 * ------------------------------------------------------------------------ */

/* So many of a member's sequence have passed; after the last it begins anew. */
static void
pass(Member *member, Size n)
{
	member->passed += n;
	if (member->passed < member->size)
		return;
	member->passed = 0;
	if (member->order != NULL)
		round_file_rewind(member->order);
}

static MemberPart *
next_part(Member *member)
{
	uint8 p;

	round_file_read(member->order, &p, sizeof(p));
	return &member->part[p];
}

/* The next weights of a member. */
void
team_rounds_weights(TeamRounds *rounds, int m, const int64 *weight, Size n)
{
	Member *member = &rounds->member[m];

	if (rounds->bits == 0)
		for (Size i = 0; i < n; i++)
			rounds->part[0].tally[member->place[member->passed + i]].weight += weight[i];
	else
		for (Size i = 0; i < n; i++)
			BufFileWrite(next_part(member)->weights, unconstify(int64 *, &weight[i]),
						 sizeof(int64));
	pass(member, n);
}

/* What members have sent for one part, which is in memory. */
static void
add_weights(TeamRounds *rounds, int p)
{
	for (int m = 0; m < rounds->members; m++)
	{
		MemberPart *mine = &rounds->member[m].part[p];

		round_file_rewind(mine->weights);
		round_file_rewind(mine->places);
		for (uint64 i = 0; i < mine->n; i++)
		{
			int64 weight;
			uint32 place;

			CHECK_FOR_INTERRUPTS();
			round_file_read(mine->weights, &weight, sizeof(weight));
			round_file_read(mine->places, &place, sizeof(place));
			rounds->part[p].tally[place].weight += weight;
		}
		round_file_rewind(mine->weights);
	}
}

/* What members are to get of one part, which is in memory. */
static void
write_biases(TeamRounds *rounds, int p)
{
	for (int m = 0; m < rounds->members; m++)
	{
		MemberPart *mine = &rounds->member[m].part[p];

		round_file_rewind(mine->biases);
		round_file_rewind(mine->places);
		for (uint64 i = 0; i < mine->n; i++)
		{
			uint32 place;
			uint16 bias;

			CHECK_FOR_INTERRUPTS();
			round_file_read(mine->places, &place, sizeof(place));
			bias = (uint16) rounds->part[p].tally[place].bias;
			BufFileWrite(mine->biases, &bias, sizeof(bias));
		}
		round_file_rewind(mine->biases);
	}
}

/* All weights are there: judge each n-gram by its sum. */
void
team_rounds_judge(TeamRounds *rounds, RoundJudge judge, void *state)
{
	MemoryContext old = MemoryContextSwitchTo(rounds->context);

	if (rounds->bits == 0)
		judge_part(&rounds->part[0], judge, state);
	for (int p = 0; p < parts_of(rounds) && rounds->bits > 0; p++)
	{
		fetch(&rounds->part[p]);
		add_weights(rounds, p);
		judge_part(&rounds->part[p], judge, state);
		write_biases(rounds, p);
		park(&rounds->part[p]);
	}
	MemoryContextSwitchTo(old);
}

/* The next biases of a member. */
void
team_rounds_biases(TeamRounds *rounds, int m, uint16 *bias, Size n)
{
	Member *member = &rounds->member[m];

	if (rounds->bits == 0)
		for (Size i = 0; i < n; i++)
			bias[i] = (uint16) rounds->part[0].tally[member->place[member->passed + i]].bias;
	else
		for (Size i = 0; i < n; i++)
			round_file_read(next_part(member)->biases, &bias[i], sizeof(uint16));
	pass(member, n);
}

/* Visit every n-gram of the level, in no particular order. */
void
team_rounds_visit(TeamRounds *rounds, RoundVisitor visit, void *state)
{
	MemoryContext old = MemoryContextSwitchTo(rounds->context);

	for (int p = 0; p < parts_of(rounds); p++)
	{
		TeamPart *part = &rounds->part[p];

		if (rounds->bits > 0)
			fetch(part);
		MemoryContextSwitchTo(old);
		for (uint32 i = 0; i < part->n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			visit(state, &part->gram[i]);
		}
		MemoryContextSwitchTo(rounds->context);
		if (rounds->bits > 0)
			park(part);
	}
	MemoryContextSwitchTo(old);
}

static void
free_member(TeamRounds *rounds, Member *member)
{
	if (member->place != NULL)
		pfree(member->place);
	if (member->order != NULL)
		BufFileClose(member->order);
	for (int p = 0; p < parts_of(rounds) && member->part != NULL; p++)
	{
		BufFileClose(member->part[p].places);
		BufFileClose(member->part[p].weights);
		BufFileClose(member->part[p].biases);
	}
}

void
team_rounds_free(TeamRounds *rounds)
{
	for (int m = 0; m < rounds->members; m++)
		free_member(rounds, &rounds->member[m]);
	for (int p = 0; p < parts_of(rounds); p++)
	{
		TeamPart *part = &rounds->part[p];

		if (part->parked != NULL)
			BufFileClose(part->parked);
		if (part->gram != NULL)
		{
			pfree(part->gram);
			pfree(part->tally);
		}
	}
	pfree(rounds->member);
	pfree(rounds->part);
	pfree(rounds);
}
