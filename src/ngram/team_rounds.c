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
#include "ngram/prefetch.h"
#include "ngram/round_parts.h"
#include "ngram/row_file.h"
#include "ngram/team_rounds.h"

#define MAX_BITS 8 /* of a byte */

/* What an n-gram takes while places are looked up, with its place in a member's sequence. */
#define BYTES_OF_ITEM 100

/* An n-gram's place while n-grams are added. */
typedef struct PlaceEntry
{
	ItemKey item;
	uint32 place;
	char status;
} PlaceEntry;

#define PLACES_HASH(item) ((uint32) dp_splitmix_finish((item).key))

#define SH_PREFIX places
#define SH_ELEMENT_TYPE PlaceEntry
#define SH_KEY_TYPE ItemKey
#define SH_KEY item
#define SH_HASH_KEY(tb, k) PLACES_HASH(k)
#define SH_EQUAL(tb, a, b) ((a).key == (b).key && (a).content == (b).content)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* What one member has in one part, if there are several. */
typedef struct MemberPart
{
	RowFile *passing; /* n-grams until they have places, then weights, then biases, ... */
	RowFile *places;
	uint64 n;
} MemberPart;

typedef struct Member
{
	uint64 size;   /* n-grams */
	uint64 passed; /* of the sequence that is sent or got at present */

	uint32 *place; /* in the one part */
	uint64 added;

	RowFile *order; /* the part of each n-gram, uint8 */
	MemberPart *part;
} Member;

/* N-grams that are in memory at one time. */
typedef struct TeamPart
{
	places_hash *table; /* while n-grams are added */
	uint32 n;
	uint32 capacity;
	RoundGram *gram;
	int64 *weight;	   /* in the present round */
	uint16 *bias;	   /* likewise */
	DepotPlace parked; /* of gram and bias, if there are other parts */
} TeamPart;

struct TeamRounds
{
	MemoryContext context;
	int members;
	uint64 most; /* n-grams of one member */
	int bits;	 /* of contents decide on the part */
	Member *member;
	TeamPart *part;
	Depot parked;
};

/* ------------------------------------------------------------------------
 * parts
 * ------------------------------------------------------------------------ */

static inline int
parts_of(const TeamRounds *rounds)
{
	return 1 << rounds->bits;
}

static void *
alloc_array(Size n, Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * size);
}

/* For at least n n-grams. */
static void
open_table(TeamPart *part, uint64 n)
{
	part->table = places_create(CurrentMemoryContext, (uint32) Min(n, PG_INT32_MAX / 2), NULL);
	part->capacity = (uint32) Max(Min(n, PG_INT32_MAX / 2), 256);
	part->gram = alloc_array(part->capacity, sizeof(RoundGram));
}

static uint32
append_gram(TeamPart *part, ItemKey item)
{
	if (part->n == part->capacity)
	{
		part->capacity *= 2;
		part->gram = repalloc_huge(part->gram, part->capacity * sizeof(RoundGram));
	}
	part->gram[part->n] = (RoundGram){.key = item.key, .content = item.content};
	return part->n++;
}

static inline uint32
place_of(TeamPart *part, ItemKey item)
{
	bool found;
	PlaceEntry *entry = places_insert(part->table, item, &found);

	if (!found)
		entry->place = append_gram(part, item);
	return entry->place;
}

/* Every n-gram has its place. */
static void
close_table(TeamPart *part)
{
	places_destroy(part->table);
	part->table = NULL;
	part->weight = MemoryContextAllocExtended(CurrentMemoryContext,
											  Max((Size) part->n, 1) * sizeof(int64),
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	part->bias = alloc_array(part->n, sizeof(uint16));
	for (uint32 i = 0; i < part->n; i++)
		part->bias[i] = DP_BIAS_ONE;
}

static void
free_arrays(TeamPart *part)
{
	pfree(part->gram);
	pfree(part->weight);
	pfree(part->bias);
	part->gram = NULL;
}

/* Leave the memory to another part. */
static void
park(TeamRounds *rounds, TeamPart *part)
{
	depot_write(&rounds->parked, &part->parked, part->gram, part->n * sizeof(RoundGram),
				part->bias, part->n * sizeof(uint16));
	free_arrays(part);
}

static void
fetch(TeamRounds *rounds, TeamPart *part)
{
	part->gram = alloc_array(part->n, sizeof(RoundGram));
	part->bias = alloc_array(part->n, sizeof(uint16));
	part->weight = MemoryContextAllocExtended(CurrentMemoryContext,
											  Max((Size) part->n, 1) * sizeof(int64),
											  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	depot_read(&rounds->parked, &part->parked, part->gram, part->n * sizeof(RoundGram),
			   part->bias, part->n * sizeof(uint16));
}

static void
judge_part(TeamPart *part, RoundJudge judge, void *state)
{
	for (uint32 i = 0; i < part->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		part->bias[i] = (uint16) judge(state, &part->gram[i], part->bias[i], part->weight[i]);
		part->weight[i] = 0;
	}
}

/* ------------------------------------------------------------------------
 * members' n-grams
 * ------------------------------------------------------------------------ */

static void
create_files(TeamRounds *rounds, Member *member)
{
	member->order = row_file_create();
	member->part = palloc0(parts_of(rounds) * sizeof(MemberPart));
	for (int p = 0; p < parts_of(rounds); p++)
		member->part[p].passing = row_file_create();
}

/* As many parts as it takes for one to fit into memory; but files take memory, too. */
static int
bits_for(int members, uint64 total, Size memory_limit)
{
	int bits = 0;

	while (bits < MAX_BITS &&
		   (total >> bits) * BYTES_OF_ITEM >
			   Max(memory_limit, ((Size) 2 << bits) * members * ROW_FILE_MEMORY))
		bits++;
	return bits;
}

/* size: how many n-grams each member will add; memory_limit: bytes */
TeamRounds *
team_rounds_create(int members, const uint64 *size, Size memory_limit)
{
	TeamRounds *rounds = palloc0(sizeof(TeamRounds));
	uint64 total = 0;

	rounds->context = CurrentMemoryContext;
	rounds->members = members;
	for (int m = 0; m < members; m++)
	{
		total += size[m];
		rounds->most = Max(rounds->most, size[m]);
	}
	rounds->bits = bits_for(members, total, memory_limit);
	rounds->member = palloc0(members * sizeof(Member));
	rounds->part = palloc0(parts_of(rounds) * sizeof(TeamPart));
	if (rounds->bits == 0)
		open_table(&rounds->part[0], rounds->most);
	for (int m = 0; m < members; m++)
	{
		Member *member = &rounds->member[m];

		member->size = size[m];
		if (rounds->bits > 0)
			create_files(rounds, member);
		else
			member->place = alloc_array(size[m], sizeof(uint32));
	}
	return rounds;
}

static void
add_places(TeamPart *part, Member *member, const ItemKey *item, Size n)
{
	for (Size i = 0; i < n; i++)
	{
		if (i + PREFETCH_DISTANCE < n)
			dp_prefetch(&part->table->data[PLACES_HASH(item[i + PREFETCH_DISTANCE]) &
										   part->table->sizemask]);
		member->place[member->added + i] = place_of(part, item[i]);
	}
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

		row_file_write(member->order, &p, sizeof(p));
		row_file_write(member->part[p].passing, &item[i], sizeof(ItemKey));
		member->part[p].n++;
	}
	member->added += n;
	MemoryContextSwitchTo(old);
}

/* Look up the places of all of a part's n-grams. */
static void
place_part(TeamRounds *rounds, int p)
{
	TeamPart *part = &rounds->part[p];

	open_table(part, rounds->most >> rounds->bits);
	for (int m = 0; m < rounds->members; m++)
	{
		MemberPart *mine = &rounds->member[m].part[p];

		mine->places = row_file_create();
		row_file_rewind(mine->passing);
		for (uint64 i = 0; i < mine->n; i++)
		{
			ItemKey item;
			uint32 place;

			CHECK_FOR_INTERRUPTS();
			row_file_read(mine->passing, &item, sizeof(item));
			place = place_of(part, item);
			row_file_write(mine->places, &place, sizeof(place));
		}
		row_file_rewind(mine->passing);
	}
	close_table(part);
	park(rounds, part);
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
		row_file_rewind(rounds->member[m].order);
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
pass(TeamRounds *rounds, Member *member, Size n)
{
	member->passed += n;
	if (member->passed < member->size)
		return;
	member->passed = 0;
	if (rounds->bits == 0)
		return;
	row_file_rewind(member->order);
	for (int p = 0; p < parts_of(rounds); p++)
		row_file_rewind(member->part[p].passing);
}

static MemberPart *
next_part(Member *member)
{
	uint8 p;

	row_file_read(member->order, &p, sizeof(p));
	return &member->part[p];
}

/* The next weights of a member. */
void
team_rounds_weights(TeamRounds *rounds, int m, const int64 *weight, Size n)
{
	Member *member = &rounds->member[m];

	if (rounds->bits == 0)
		for (Size i = 0; i < n; i++)
			rounds->part[0].weight[member->place[member->passed + i]] += weight[i];
	else
		for (Size i = 0; i < n; i++)
			row_file_write(next_part(member)->passing, &weight[i], sizeof(int64));
	pass(rounds, member, n);
}

/* What members have sent for one part, which is in memory. */
static void
add_weights(TeamRounds *rounds, int p)
{
	for (int m = 0; m < rounds->members; m++)
	{
		MemberPart *mine = &rounds->member[m].part[p];

		row_file_rewind(mine->places);
		for (uint64 i = 0; i < mine->n; i++)
		{
			int64 weight;
			uint32 place;

			CHECK_FOR_INTERRUPTS();
			row_file_read(mine->passing, &weight, sizeof(weight));
			row_file_read(mine->places, &place, sizeof(place));
			rounds->part[p].weight[place] += weight;
		}
		row_file_rewind(mine->passing);
	}
}

/* What members are to get of one part, which is in memory. */
static void
write_biases(TeamRounds *rounds, int p)
{
	for (int m = 0; m < rounds->members; m++)
	{
		MemberPart *mine = &rounds->member[m].part[p];

		row_file_rewind(mine->places);
		for (uint64 i = 0; i < mine->n; i++)
		{
			uint32 place;
			uint16 bias;

			CHECK_FOR_INTERRUPTS();
			row_file_read(mine->places, &place, sizeof(place));
			bias = rounds->part[p].bias[place];
			row_file_write(mine->passing, &bias, sizeof(bias));
		}
		row_file_rewind(mine->passing);
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
		fetch(rounds, &rounds->part[p]);
		add_weights(rounds, p);
		judge_part(&rounds->part[p], judge, state);
		write_biases(rounds, p);
		park(rounds, &rounds->part[p]);
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
			bias[i] = rounds->part[0].bias[member->place[member->passed + i]];
	else
		for (Size i = 0; i < n; i++)
			row_file_read(next_part(member)->passing, &bias[i], sizeof(uint16));
	pass(rounds, member, n);
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
			fetch(rounds, part);
		MemoryContextSwitchTo(old);
		for (uint32 i = 0; i < part->n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			visit(state, &part->gram[i]);
		}
		MemoryContextSwitchTo(rounds->context);
		if (rounds->bits > 0)
			park(rounds, part);
	}
	MemoryContextSwitchTo(old);
}

static void
free_member(TeamRounds *rounds, Member *member)
{
	if (member->place != NULL)
		pfree(member->place);
	if (member->order != NULL)
		row_file_close(member->order);
	for (int p = 0; p < parts_of(rounds) && member->part != NULL; p++)
	{
		row_file_close(member->part[p].places);
		row_file_close(member->part[p].passing);
	}
	if (member->part != NULL)
		pfree(member->part);
}

void
team_rounds_free(TeamRounds *rounds)
{
	for (int m = 0; m < rounds->members; m++)
		free_member(rounds, &rounds->member[m]);
	for (int p = 0; p < parts_of(rounds); p++)
	{
		TeamPart *part = &rounds->part[p];

		if (part->gram != NULL)
			free_arrays(part);
	}
	depot_clear(&rounds->parked);
	pfree(rounds->member);
	pfree(rounds->part);
	pfree(rounds);
}
