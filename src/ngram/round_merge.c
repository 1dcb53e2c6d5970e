/*
 * round_merge.c
 *	  Users with the same list of n-grams, counted as one of so many.
 *
 * In every round their weights are the same, so it is enough to add them up once: where
 * words are few and texts short, as for pages of a web site, little is left of a
 * round's work.  Only short lists are looked at, since long ones are rarely equal, and
 * only where all lists are in memory as one part: norms that are added up over several
 * parts belong to a user each.
 */
#include "postgres.h"

#include "common/dp_random.h"
#include "ngram/histogram.h"
#include "ngram/round_parts.h"

/* Lists of more n-grams than this are left alone. */
#define LONGEST 8

/* The first of equal lists, which stays; its hash is the number of users. */
typedef struct MergedList
{
	CorpusRecord *record;
	uint32 hash;
	char status;
} MergedList;

static inline uint32
hash_list(const CorpusRecord *record)
{
	uint64 hash = record->n;

	for (uint32 i = 0; i < record->n; i++)
		hash = dp_splitmix_finish(hash + record->id[i]);
	return (uint32) hash;
}

static inline bool
same_list(const CorpusRecord *a, const CorpusRecord *b)
{
	return a->n == b->n && memcmp(a->id, b->id, a->n * sizeof(uint32)) == 0;
}

#define SH_PREFIX merged
#define SH_ELEMENT_TYPE MergedList
#define SH_KEY_TYPE CorpusRecord *
#define SH_KEY record
#define SH_HASH_KEY(tb, key) hash_list(key)
#define SH_EQUAL(tb, a, b) same_list(a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) (a)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* The order within a list means nothing: let equal lists look the same. */
static void
sort_list(CorpusUser *user)
{
	for (uint32 i = 1; i < user->n; i++)
	{
		uint32 id = user->id[i];
		uint32 to = i;

		for (; to > 0 && user->id[to - 1] > id; to--)
			user->id[to] = user->id[to - 1];
		user->id[to] = id;
	}
}

/*
 * Merge equal lists; from then on a list's hash is the number of its users.  memory_limit:
 * bytes, for finding them; what finds no room stays as it is.
 */
void
round_lists_merge(Corpus *lists, Size memory_limit)
{
	merged_hash *table = merged_create(CurrentMemoryContext, 256, NULL);
	uint64 members = table_members_within(memory_limit, sizeof(MergedList));
	CorpusScan scan;
	CorpusUser user;

	corpus_scan_begin(&scan, lists, true);
	while (corpus_scan_next(&scan, &user))
	{
		MergedList *entry;
		bool found;

		user.hash = 1;
		if (user.n > LONGEST)
		{
			(void) corpus_scan_keep(&scan, &user);
			continue;
		}
		sort_list(&user);
		entry = merged_lookup(table, corpus_record(&user));
		if (entry != NULL && entry->record->hash[0] < PG_UINT32_MAX)
			entry->record->hash[0]++;
		else if (entry == NULL && table->members < members)
			merged_insert(table, corpus_scan_keep(&scan, &user), &found);
		else
			(void) corpus_scan_keep(&scan, &user);
	}
	corpus_scan_end(&scan);
	merged_destroy(table);
}
