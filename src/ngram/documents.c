/*
 * documents.c
 *	  Tokenised documents in the order in which they came, until they are grouped by user.
 *
 * A document is a record: its user's hash and value, and its words.  Records are
 * appended to one of some partitions by their users' hashes, so that in the end
 * each partition is grouped within the processor's caches, by a hash table of its users.
 * Hashes only bring together: whether two documents are of one user is decided by
 * the type's own comparison.  Merging users with equal hashes would give one bound to
 * all of them, and parting equal values (1.0 and 1.00) two bounds to one user.
 *
 * When the partitions reach the memory limit, all of them are written to files, one
 * each, and filled anew.  In the end a file that is small enough is read and grouped, a
 * larger one divided again by further bits, and one whose documents all have one hash,
 * where nothing is left to divide by, is the documents of one user who has many: they are
 * taken as they stand in the file.  If there are others with that very hash, by a bad hash function
 * or by malice, theirs are sorted by the type's comparison.
 *
 * Documents that were grouped give back their memory, partition by partition.  A user's
 * record in the corpus is smaller than the user's documents (a paired corpus, which has
 * all words twice, leaves us half as much from the start), so both together stay within
 * the limit, and one partition more.  The order of documents and users is not that in
 * which they came, and nothing in a result may depend on it.
 */
#include "postgres.h"

#include "common/dp_random.h"
#include "miscadmin.h"
#include "ngram/document.h"
#include "ngram/document_sort.h"
#include "ngram/documents.h"
#include "ngram/temp_file.h"
#include "utils/memutils.h"

/* Partitions: by that many bits of the hash, the fewer where their files' buffers would count. */
#define MIN_BITS 5
#define MAX_BITS 8
#define MEMORY_A_FILE ((Size) 16 * BLCKSZ)

#define FIRST_CHUNK ((Size) 1024)
#define LARGEST_CHUNK ((Size) 128 * 1024)

/* A file of so many bytes, or a quarter of the limit, is small. */
#define SMALL_FILE ((Size) 64 * 1024)

typedef struct Chunk
{
	struct Chunk *next;
	Size size;
	Size used;
	char data[FLEXIBLE_ARRAY_MEMBER];
} Chunk;

typedef struct Partition
{
	Chunk *first;
	Chunk *last;
	Size bytes; /* in all chunks so far */
	BufFile *file;
	Size file_bytes;
	uint64 hash; /* of the documents, if it is the same for all */
	bool hashes; /* it is not */
} Partition;

/* All documents of a hash, while a partition is grouped. */
typedef struct HashGroup
{
	uint64 hash;
	Document *first;
	Document *last;
	char status;
} HashGroup;

#define SH_PREFIX groups
#define SH_ELEMENT_TYPE HashGroup
#define SH_KEY_TYPE uint64
#define SH_KEY hash
#define SH_HASH_KEY(tb, key) ((uint32) dp_splitmix_finish(key))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct Documents
{
	UserType users;
	bool hashed;
	MemoryContext context; /* of chunks and of what grouping needs */
	MemoryContext files;
	Size limit;
	Size small_file; /* is grouped in one go */
	Size largest_chunk;
	Size memory; /* in chunks */
	int used;	 /* bits of the hash that all documents share */
	int bits;	 /* by which they are parted */
	bool spilled;
	groups_hash *groups;
	Partition partition[1 << MAX_BITS];
};

/* Bits that make so many partitions, or as many as there may be. */
static int
bits_for(Size partitions)
{
	int bits = 1;

	while (bits < MAX_BITS && (Size) 1 << bits < partitions)
		bits++;
	return bits;
}

static Documents *
create_below(const UserType *users, Size memory_limit, int used_bits, int bits)
{
	Documents *documents = palloc0(sizeof(Documents));

	documents->users = *users;
	documents->hashed = user_type_hashed(users);
	documents->context = AllocSetContextCreate(CurrentMemoryContext, "dpngram documents",
											   ALLOCSET_DEFAULT_SIZES);
	documents->files = CurrentMemoryContext;
	documents->limit = memory_limit;
	documents->small_file = Max(memory_limit / 4, SMALL_FILE);
	documents->used = used_bits;
	documents->bits = bits;
	documents->largest_chunk = Min(LARGEST_CHUNK, memory_limit >> (documents->bits + 2));
	return documents;
}

/* memory_limit: in bytes, also for the corpus that the documents are grouped into */
Documents *
documents_create(const UserType *users, Size memory_limit)
{
	return create_below(users, memory_limit, 0,
						Max(MIN_BITS, bits_for(memory_limit / MEMORY_A_FILE)));
}

/* ---- what comes in ---- */

static Partition *
partition_of(Documents *documents, uint64 hash)
{
	/* a type's own hash need not have all of its bits mixed */
	uint64 bits = dp_splitmix_finish(hash) << documents->used;

	return &documents->partition[bits >> (64 - documents->bits)];
}

/* The file lives as long as the documents, whatever context the caller is in. */
static void
append_to_file(Documents *documents, Partition *partition, void *data, Size size)
{
	if (partition->file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(documents->files);

		partition->file = BufFileCreateTemp(false);
		MemoryContextSwitchTo(old);
		documents->spilled = true;
	}
	BufFileWrite(partition->file, data, size);
	partition->file_bytes += size;
}

static void
free_chunks(Documents *documents, Partition *partition)
{
	Chunk *chunk = partition->first;

	while (chunk != NULL)
	{
		Chunk *next = chunk->next;

		documents->memory -= chunk->size;
		pfree(chunk);
		chunk = next;
	}
	partition->first = partition->last = NULL;
}

/* Leave the memory to what comes. */
static void
spill_all(Documents *documents)
{
	for (int i = 0; i < 1 << documents->bits; i++)
	{
		Partition *partition = &documents->partition[i];

		CHECK_FOR_INTERRUPTS();
		for (Chunk *chunk = partition->first; chunk != NULL; chunk = chunk->next)
			append_to_file(documents, partition, chunk->data, chunk->used);
		free_chunks(documents, partition);
	}
}

static Chunk *
chunk_create(Documents *documents, Size size)
{
	Chunk *chunk = MemoryContextAllocHuge(documents->context, size);

	chunk->next = NULL;
	chunk->size = size;
	chunk->used = 0;
	documents->memory += size;
	return chunk;
}

/*
 * A chunk with room for a record, after the partition's others, or NULL if memory is too
 * short for that even when it is empty.
 */
static Chunk *
add_chunk(Documents *documents, Partition *partition, Size size)
{
	Size wanted = Min(partition->bytes / 4, documents->largest_chunk);
	Chunk *chunk;

	size = Max(Max(wanted, FIRST_CHUNK), size + offsetof(Chunk, data));
	if (documents->memory + size > documents->limit)
		spill_all(documents);
	if (size > documents->limit)
		return NULL;
	chunk = chunk_create(documents, size);
	if (partition->last != NULL)
		partition->last->next = chunk;
	else
		partition->first = chunk;
	partition->last = chunk;
	return chunk;
}

/* Room for a record of that hash in memory, or NULL if it must go to its partition's file. */
static Document *
reserve(Documents *documents, Partition *partition, uint64 hash, Size size)
{
	Chunk *chunk = partition->last;
	Document *document;

	partition->hashes |= partition->bytes > 0 && partition->hash != hash;
	partition->hash = hash;
	if (chunk == NULL || chunk->size - offsetof(Chunk, data) - chunk->used < size)
		chunk = add_chunk(documents, partition, size);
	partition->bytes += size;
	if (chunk == NULL)
		return NULL;
	document = (Document *) (chunk->data + chunk->used);
	chunk->used += size;
	return document;
}

/*
 * documents_add: a document of the user, by read_documents()'s hash and value.
 *
 * words: n ids or escapes (corpus.h), documents' parts parted by single ids 0, that take
 * so many positions.  Of a document that alone is longer than the cap on positions the
 * words aren't needed.
 */
void
documents_add(Documents *documents, uint64 hash, Datum user, const uint32 *words, uint32 n,
			  uint32 positions)
{
	Size user_size = document_user_size(&documents->users, user);
	Size size = sizeof(Document) + user_size + MAXALIGN(n * sizeof(uint32));
	Document header = {.hash = hash, .size = size, .n = n, .positions = positions};
	Partition *partition = partition_of(documents, hash);
	Document *to = reserve(documents, partition, hash, size);

	if (to != NULL)
	{
		document_write(&documents->users, to, &header, user, user_size, words);
		return;
	}
	to = MemoryContextAllocHuge(documents->context, size);
	document_write(&documents->users, to, &header, user, user_size, words);
	append_to_file(documents, partition, to, size);
	pfree(to);
}

/* ---- grouping in memory ---- */

static void
begin_user(const Documents *documents, const Document *document, Corpus *corpus)
{
	corpus_begin_user(corpus, documents->hashed ? document->hash : 0);
}

static void
append_document(const Documents *documents, Document *document, Corpus *corpus)
{
	corpus_add_document(corpus, document_words(&documents->users, document), document->n,
						document->positions & (MIXED_HASH - 1));
}

static int
compare_documents(const void *a, const void *b, void *arg)
{
	const Documents *documents = arg;

	CHECK_FOR_INTERRUPTS();
	return user_compare(&documents->users, document_user(&documents->users, *(Document *const *) a),
						document_user(&documents->users, *(Document *const *) b));
}

/* Documents of several users of one hash: bring each user's together. */
static void
append_mixed(Documents *documents, Document *first_of_hash, Corpus *corpus)
{
	Document **list;
	Size n = 0;

	for (Document *document = first_of_hash; document != NULL; document = document->next)
		n++;
	list = MemoryContextAllocHuge(documents->context, n * sizeof(Document *));
	n = 0;
	for (Document *document = first_of_hash; document != NULL; document = document->next)
		list[n++] = document;
	qsort_arg(list, n, sizeof(Document *), compare_documents, documents);
	for (Size i = 0; i < n; i++)
	{
		bool first = i == 0 || compare_documents(&list[i - 1], &list[i], documents) != 0;

		if (first && i > 0)
			corpus_end_user(corpus);
		if (first)
			begin_user(documents, list[i], corpus);
		append_document(documents, list[i], corpus);
	}
	corpus_end_user(corpus);
	pfree(list);
}

static void
append_hash(Documents *documents, Document *first, Corpus *corpus)
{
	if (first->positions & MIXED_HASH)
	{
		append_mixed(documents, first, corpus);
		return;
	}
	begin_user(documents, first, corpus);
	for (Document *document = first; document != NULL; document = document->next)
		append_document(documents, document, corpus);
	corpus_end_user(corpus);
}

/* Puts the documents of a chunk behind the others of their hashes. */
static void
link_chunk(Documents *documents, Chunk *chunk)
{
	Document *end = (Document *) (chunk->data + chunk->used);
	HashGroup *group = NULL;

	for (Document *document = (Document *) chunk->data; document < end;
		 document = document_following(&documents->users, document))
	{
		bool found = true;

		CHECK_FOR_INTERRUPTS();
		document->next = NULL;
		if (group == NULL || group->hash != document->hash)
			group = groups_insert(documents->groups, document->hash, &found);
		if (!found)
		{
			document->positions |= FIRST_OF_HASH;
			group->first = group->last = document;
			continue;
		}
		if ((group->first->positions & MIXED_HASH) == 0 &&
			!same_user(&documents->users, document_user(&documents->users, group->first),
					   document_user(&documents->users, document)))
			group->first->positions |= MIXED_HASH;
		group->last->next = document;
		group->last = document;
	}
}

/*
 * Appends a partition's users, all of whose documents are in these chunks: in the order
 * of their first documents, since memory is read fastest as it stands.
 */
static void
group_chunks(Documents *documents, Chunk *chunks, Corpus *corpus)
{
	if (chunks == NULL)
		return;
	if (documents->groups == NULL)
		documents->groups = groups_create(documents->context, 256, NULL);
	for (Chunk *chunk = chunks; chunk != NULL; chunk = chunk->next)
		link_chunk(documents, chunk);
	for (Chunk *chunk = chunks; chunk != NULL; chunk = chunk->next)
	{
		Document *end = (Document *) (chunk->data + chunk->used);

		for (Document *document = (Document *) chunk->data; document < end;
			 document = document_following(&documents->users, document))
		{
			CHECK_FOR_INTERRUPTS();
			if (document->positions & FIRST_OF_HASH)
				append_hash(documents, document, corpus);
		}
	}
	groups_reset(documents->groups);
}

/* ---- grouping from files ---- */

/* The next record of a partition's file, or NULL after the last; valid until the next call. */
static Document *
next_document(const Documents *documents, const Partition *partition, Size *at, Document **record,
			  Size *capacity)
{
	Document header;

	CHECK_FOR_INTERRUPTS();
	if (*at == partition->file_bytes)
		return NULL;
	temp_file_read(partition->file, &header, sizeof(header));
	if (header.size > *capacity)
	{
		if (*record != NULL)
			pfree(*record);
		*capacity = header.size + header.size / 2;
		*record = MemoryContextAllocHuge(documents->context, *capacity);
	}
	**record = header;
	temp_file_read(partition->file, *record + 1, header.size - sizeof(header));
	*at += header.size;
	return *record;
}

static void
group_small_file(Documents *documents, Partition *partition, Corpus *corpus)
{
	Chunk *chunk = chunk_create(documents, partition->file_bytes + offsetof(Chunk, data));

	chunk->used = partition->file_bytes;
	temp_file_read(partition->file, chunk->data, chunk->used);
	group_chunks(documents, chunk, corpus);
	documents->memory -= chunk->size;
	pfree(chunk);
	BufFileClose(partition->file);
}

static void
store_document(Documents *documents, Document *document)
{
	documents_add(documents, document->hash, document_user(&documents->users, document),
				  document_words(&documents->users, document), document->n, document->positions);
}

static void
divide_file(Documents *documents, Partition *partition, Corpus *corpus)
{
	MemoryContext old = MemoryContextSwitchTo(documents->files);
	/* parts are of half the size that is small, so that few are larger */
	Size wanted = partition->file_bytes / (documents->small_file / 2) + 1;
	Documents *parts = create_below(&documents->users, documents->small_file,
									documents->used + documents->bits, bits_for(wanted));
	Document *record = NULL;
	Document *document;
	Size capacity = 0;
	Size at = 0;

	MemoryContextSwitchTo(old);
	parts->small_file = documents->small_file;
	while ((document = next_document(documents, partition, &at, &record, &capacity)) != NULL)
		store_document(parts, document);
	BufFileClose(partition->file);
	pfree(record);
	documents_group(parts, corpus);
}

/* Appends all users of a file, whose documents have one hash and are too many for memory. */
static void
group_sorted(Documents *documents, Partition *partition, Corpus *corpus)
{
	DocumentSort *sort = document_sort_create(&documents->users, documents->small_file);
	Document *record = NULL;
	Document *document;
	Size capacity = 0;
	Size at = 0;
	bool first = true;
	bool new_user;

	while ((document = next_document(documents, partition, &at, &record, &capacity)) != NULL)
		document_sort_add(sort, document);
	pfree(record);
	BufFileClose(partition->file);
	while ((document = document_sort_next(sort, &new_user)) != NULL)
	{
		if (new_user && !first)
			corpus_end_user(corpus);
		if (new_user)
			begin_user(documents, document, corpus);
		append_document(documents, document, corpus);
		first = false;
	}
	corpus_end_user(corpus);
	document_sort_free(sort);
}

/*
 * Appends the user whose document is the first of the file, all of whose documents
 * have one hash.  The partition is left with those of others.
 */
static void
take_first_user(Documents *documents, Partition *partition, Corpus *corpus)
{
	const TypeCacheEntry *type = documents->users.entry;
	Partition rest = {.hash = partition->hash};
	Document *record = NULL;
	Document *document;
	Size capacity = 0;
	Size at = 0;
	Datum user = (Datum) 0;

	while ((document = next_document(documents, partition, &at, &record, &capacity)) != NULL)
	{
		Datum present = document_user(&documents->users, document);

		if (at == document->size)
		{
			MemoryContext old = MemoryContextSwitchTo(documents->context);

			user = datumCopy(present, type->typbyval, type->typlen);
			MemoryContextSwitchTo(old);
			begin_user(documents, document, corpus);
		}
		if (same_user(&documents->users, user, present))
			append_document(documents, document, corpus);
		else
			append_to_file(documents, &rest, document, document->size);
	}
	corpus_end_user(corpus);
	if (!type->typbyval)
		pfree(DatumGetPointer(user));
	pfree(record);
	BufFileClose(partition->file);
	*partition = rest;
}

/* Documents of one hash, most of which are of one user. */
static void
group_one_hash(Documents *documents, Partition *partition, Corpus *corpus)
{
	take_first_user(documents, partition, corpus);
	if (partition->file == NULL)
		return;
	temp_file_rewind(partition->file);
	group_sorted(documents, partition, corpus);
}

static void
group_file(Documents *documents, Partition *partition, Corpus *corpus)
{
	if (partition->file == NULL)
		return;
	temp_file_rewind(partition->file);
	if (partition->file_bytes <= documents->small_file)
		group_small_file(documents, partition, corpus);
	else if (partition->hashes)
		divide_file(documents, partition, corpus);
	else
		group_one_hash(documents, partition, corpus);
	partition->file = NULL;
}

/*
 * documents_group: appends all users to the corpus, each with all of the user's documents,
 * and frees the documents.
 */
void
documents_group(Documents *documents, Corpus *corpus)
{
	if (documents->spilled)
		spill_all(documents);
	for (int i = 0; i < 1 << documents->bits; i++)
	{
		Partition *partition = &documents->partition[i];

		group_chunks(documents, partition->first, corpus);
		free_chunks(documents, partition);
		group_file(documents, partition, corpus);
	}
	MemoryContextDelete(documents->context);
	pfree(documents);
}
