/*
 * crowd.c
 *	  The users of a relation, who are asked within the server.
 *
 * What a method gets is what it would get from the users themselves, each of whom
 * randomises every answer on its own, but it is not made one answer at a time.
 *
 * - Bits.  Of the m users who are asked about a node, c hold its prefix.  Their answers
 *	 are independent bits, 1 with probability "yes" for a holder and "no" for the others,
 *	 so the number of ones is Bin(c, yes) + Bin(m - c, no), and the numbers of several
 *	 nodes are independent given the terms, because each node has bits of its own.  All
 *	 that a method ever uses of the bits is their number.
 * - Hash values.  A user reports one value y, with a seed of its own.  Under a hash whose
 *	 values for different items are independent and uniform on g values over the seeds,
 *	 y is the hash of the user's own item with probability keep, and it is the hash of any
 *	 other item with probability 1/g, independently for each of them.  So again the
 *	 numbers of supporters are Bin(c, keep) + Bin(m - c, 1/g), independent.
 *
 * Each binomial is drawn exactly (dp_binomial.c), so the law of what is released is that
 * of the users' own answers, and so is its privacy.  test/unit/test_crowd.c compares the two.
 *
 * The holders of a node's prefix stand together in one array, by place; when a node is
 * expanded its part of the array is divided among the children by the next symbol.  So
 * every level of the trie costs one visit to each user whose prefix is still in it, and
 * who among the places from .. to - 1 holds a prefix is found by bisection.  Distinct terms
 * are numbered in their order, so those of a prefix are neighbours, and their next symbols
 * a short array, where a visit to a user finds what it looks for without leaving the cache.
 * A user takes 12 bytes, and each distinct term two for a character and some for its number.
 */
#include "common/dp_base.h"

#include "common/dp_binomial.h"
#include "common/dp_sample.h"
#include "local/crowd.h"
#include "local/memory.h"

#define INITIAL_CAPACITY 1024

/* ---- the users and their terms ---- */

void
crowd_init(Crowd *crowd, DpRandom *rng)
{
	memset(crowd, 0, sizeof(*crowd));
	crowd->rng = rng;
	crowd->terms_capacity = crowd->users_capacity = INITIAL_CAPACITY;
	crowd->arena_capacity = INITIAL_CAPACITY;
	crowd->start = palloc((crowd->terms_capacity + 1) * sizeof(size_t));
	crowd->arena = palloc(crowd->arena_capacity * sizeof(uint16));
	crowd->term = palloc(crowd->users_capacity * sizeof(uint32));
	crowd->start[0] = crowd->start[1] = 0;
	crowd->terms = 1;
}

/* A new distinct term of 1 .. TERM_MAX_LENGTH symbols; returns its number. */
uint32
crowd_add_term(Crowd *crowd, const uint16 *symbol, int length)
{
	size_t start = crowd->start[crowd->terms];

	if (crowd->terms == crowd->terms_capacity)
	{
		crowd->terms_capacity *= 2;
		crowd->start = local_realloc_huge(crowd->start,
										  ((size_t) crowd->terms_capacity + 1) * sizeof(size_t));
	}
	while (start + length > crowd->arena_capacity)
	{
		crowd->arena_capacity *= 2;
		crowd->arena = local_realloc_huge(crowd->arena, crowd->arena_capacity * sizeof(uint16));
	}
	memcpy(crowd->arena + start, symbol, length * sizeof(uint16));
	crowd->start[crowd->terms + 1] = start + length;
	return crowd->terms++;
}

/* One more user, with the term of this number; at most PG_UINT32_MAX of them. */
void
crowd_add_user(Crowd *crowd, uint32 term)
{
	if (crowd->users == crowd->users_capacity)
	{
		crowd->users_capacity *= 2;
		crowd->term = local_realloc_huge(crowd->term, crowd->users_capacity * sizeof(uint32));
	}
	crowd->term[crowd->users++] = term;
}

/* Puts the users in a uniformly random order, after which a user's index is its place. */
void
crowd_shuffle(Crowd *crowd)
{
	for (int64 i = crowd->users - 1; i > 0; i--)
	{
		int64 j = (int64) dp_uniform(crowd->rng, i + 1);
		uint32 term = crowd->term[i];

		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		crowd->term[i] = crowd->term[j];
		crowd->term[j] = term;
	}
}

LocalTerm
crowd_term(const Crowd *crowd, int64 place)
{
	uint32 term = crowd->term[place];
	size_t start = crowd->start[term];

	return (LocalTerm){.length = (int) (crowd->start[term + 1] - start),
					   .symbol = crowd->arena + start};
}

/* ---- terms in their order ---- */

typedef struct OrderedTerm
{
	const uint16 *symbol;
	uint32 length;
	uint32 number;
} OrderedTerm;

static int
compare_terms(const void *a, const void *b)
{
	const OrderedTerm *x = a;
	const OrderedTerm *y = b;
	uint32 n = Min(x->length, y->length);

	CHECK_FOR_INTERRUPTS();
	for (uint32 i = 0; i < n; i++)
		if (x->symbol[i] != y->symbol[i])
			return x->symbol[i] < y->symbol[i] ? -1 : 1;
	return (x->length > y->length) - (x->length < y->length);
}

/* Numbers the terms anew; the one without symbols stays the first. */
static void
order_terms(Crowd *crowd)
{
	OrderedTerm *term = local_alloc_huge(crowd->terms * sizeof(OrderedTerm));
	uint32 *number = local_alloc_huge(crowd->terms * sizeof(uint32));
	uint16 *arena = local_alloc_huge(crowd->arena_capacity * sizeof(uint16));
	size_t next = 0;

	for (uint32 i = 0; i < crowd->terms; i++)
		term[i] = (OrderedTerm){crowd->arena + crowd->start[i],
								(uint32) (crowd->start[i + 1] - crowd->start[i]), i};
	qsort(term, crowd->terms, sizeof(OrderedTerm), compare_terms);
	for (uint32 i = 0; i < crowd->terms; i++)
	{
		number[term[i].number] = i;
		memcpy(arena + next, term[i].symbol, term[i].length * sizeof(uint16));
		crowd->start[i] = next;
		next += term[i].length;
	}
	crowd->start[crowd->terms] = next;
	for (int64 place = 0; place < crowd->users; place++)
		crowd->term[place] = number[crowd->term[place]];
	pfree(crowd->arena);
	pfree(number);
	pfree(term);
	crowd->arena = arena;
	crowd->ordered = true;
}

/* ---- who holds a prefix ---- */

static void
make_arrays(Crowd *crowd)
{
	order_terms(crowd);
	crowd->symbol = local_alloc_huge(crowd->terms * sizeof(uint16));
	crowd->holder = local_alloc_huge(Max(crowd->users, 1) * sizeof(uint32));
	crowd->sorted = local_alloc_huge(Max(crowd->users, 1) * sizeof(uint32));
}

/* All users with a term, by place, hold the root's prefix of no symbols. */
static void
begin_trie(Crowd *crowd, const Trie *trie)
{
	uint32 n = 0;

	if (!crowd->ordered)
		make_arrays(crowd);
	for (int64 place = 0; place < crowd->users; place++)
		if (crowd->term[place] != CROWD_NO_TERM)
			crowd->holder[n++] = (uint32) place;
	if (crowd->holders != NULL)
		pfree(crowd->holders);
	crowd->holders_capacity = Max(trie->capacity, INITIAL_CAPACITY);
	crowd->holders = palloc0(crowd->holders_capacity * sizeof(CrowdHolders));
	crowd->holders[TRIE_ROOT] = (CrowdHolders){.known = true,
											   .first_term = CROWD_NO_TERM + 1,
											   .end_term = crowd->terms,
											   .to = n};
	crowd->trie = trie;
}

static void
make_room(Crowd *crowd, int32 n)
{
	int32 capacity = crowd->holders_capacity;

	if (n <= capacity)
		return;
	while (capacity < n)
		capacity *= 2;
	crowd->holders = local_realloc_huge(crowd->holders, capacity * sizeof(CrowdHolders));
	memset(crowd->holders + crowd->holders_capacity, 0,
		   (capacity - crowd->holders_capacity) * sizeof(CrowdHolders));
	crowd->holders_capacity = capacity;
}

/* Divides the terms of an expanded node among its children, and notes their next symbols. */
static void
divide_terms(Crowd *crowd, const CrowdHolders *parent, int depth, CrowdHolders *child)
{
	const Trie *trie = crowd->trie;
	uint32 term = parent->first_term;

	for (int i = 0; i < trie_children(trie); i++)
	{
		child[i] = (CrowdHolders){.known = true, .first_term = term};
		while (term < parent->end_term)
		{
			size_t start = crowd->start[term];
			bool ends = start + depth == crowd->start[term + 1];

			if ((ends ? SYMBOL_END : crowd->arena[start + depth]) != i)
				break;
			crowd->symbol[term++] = i;
		}
		child[i].end_term = term;
	}
	Assert(term == parent->end_term);
}

/* Divides the holders of an expanded node among its children, each child's by place. */
static void
divide_holders(Crowd *crowd, int32 node)
{
	const Trie *trie = crowd->trie;
	CrowdHolders parent = crowd->holders[node];
	CrowdHolders *child = &crowd->holders[trie->node[node].first_child];
	uint32 next = parent.from;

	divide_terms(crowd, &parent, trie->node[node].depth, child);
	for (uint32 i = parent.from; i < parent.to; i++)
		child[crowd->symbol[crowd->term[crowd->holder[i]]]].to++;
	for (int i = 0; i < trie_children(trie); i++)
	{
		uint32 n = child[i].to;

		child[i].from = child[i].to = next;
		next += n;
	}
	for (uint32 i = parent.from; i < parent.to; i++)
	{
		uint32 place = crowd->holder[i];

		crowd->sorted[child[crowd->symbol[crowd->term[place]]].to++] = place;
	}
	memcpy(crowd->holder + parent.from, crowd->sorted + parent.from,
		   (parent.to - parent.from) * sizeof(uint32));
}

static CrowdHolders
holders_of(Crowd *crowd, const Trie *trie, int32 node)
{
	if (trie != crowd->trie)
		begin_trie(crowd, trie);
	make_room(crowd, trie->size);
	if (!crowd->holders[node].known)
	{
		int32 parent = trie->node[node].parent;

		(void) holders_of(crowd, trie, parent);
		CHECK_FOR_INTERRUPTS();
		divide_holders(crowd, parent);
	}
	return crowd->holders[node];
}

/*
 * The holders of a node that is asked about, by place.  Where they have been divided among
 * its children they are not: then all begins anew.  Methods go down the trie and up never.
 */
static CrowdHolders
holders_by_place(Crowd *crowd, const Trie *trie, int32 node)
{
	int32 child = trie->node[node].first_child;

	if (trie == crowd->trie && child != TRIE_NONE && child < crowd->holders_capacity &&
		crowd->holders[child].known)
		begin_trie(crowd, trie);
	return holders_of(crowd, trie, node);
}

/* How many of them stand before a place. */
static int64
holders_before(const Crowd *crowd, CrowdHolders holders, int64 place)
{
	uint32 low = holders.from;
	uint32 high = holders.to;

	while (low < high)
	{
		uint32 middle = low + (high - low) / 2;

		if (crowd->holder[middle] < place)
			low = middle + 1;
		else
			high = middle;
	}
	return low - holders.from;
}

/* ---- asking ---- */

/* How many of m answers support what c of the users have. */
static int64
supporters(Crowd *crowd, const Oracle *oracle, int64 c, int64 m)
{
	return (int64) (dp_binomial_dyadic(crowd->rng, c, oracle->yes) +
					dp_binomial_dyadic(crowd->rng, m - c, oracle->no));
}

static int64
crowd_ask(void *state, const Trie *trie, const int32 *nodes, int n, int64 from, int64 to,
		  const Oracle *oracle, int64 *supported)
{
	Crowd *crowd = state;

	for (int i = 0; i < n; i++)
	{
		CrowdHolders holders = holders_by_place(crowd, trie, nodes[i]);
		int64 c = holders_before(crowd, holders, to) - holders_before(crowd, holders, from);

		if (i % 64 == 0)
			CHECK_FOR_INTERRUPTS();
		supported[i] = supporters(crowd, oracle, c, to - from);
	}
	return to - from;
}

static int64
crowd_ask_lengths(void *state, int n, int64 from, int64 to, const Oracle *oracle,
				  int64 *supported)
{
	Crowd *crowd = state;

	memset(supported, 0, n * sizeof(int64));
	for (int64 place = from; place < to; place++)
	{
		int length = crowd_term(crowd, place).length;

		if (place % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		if (length >= 1 && length <= n)
			supported[length - 1]++;
	}
	for (int i = 0; i < n; i++)
		supported[i] = supporters(crowd, oracle, supported[i], to - from);
	return to - from;
}

static void
crowd_visit(void *state, int64 from, int64 to, PollClient client, void *client_state)
{
	const Crowd *crowd = state;

	for (int64 place = from; place < to; place++)
	{
		LocalTerm term = crowd_term(crowd, place);

		if (place % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		client(client_state, place, &term);
	}
}

/* The door to the crowd, which must live as long. */
Poll
crowd_poll(Crowd *crowd)
{
	return (Poll){.users = crowd->users,
				  .state = crowd,
				  .ask = crowd_ask,
				  .ask_lengths = crowd_ask_lengths,
				  .visit = crowd_visit};
}
