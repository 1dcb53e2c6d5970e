/*
 * corpus.c
 *	  The private texts as flat arrays of token ids, user after user.
 *
 * A user is a record of 32-bit words: hash (2 words), n, n ids and, in a
 * paired corpus (single-side pruning needs the plain tokens beside the ids of
 * the growing grams), n token ids.  Records are appended to one array while
 * they stay within the memory limit; from the first record that would not,
 * all go to a temporary file, which is read sequentially in every pass.
 *
 * A rewriting pass hands out each record and takes back what is kept of it,
 * never more than was handed out.  So the part in memory is compacted in
 * place, and the part on disk is copied to a new file.  The order of users
 * never matters to the result.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "ngram/corpus.h"

#define HEADER_WORDS (offsetof(CorpusRecord, id) / sizeof(uint32))

struct Corpus
{
	MemoryContext context;
	bool paired;

	/* records in memory */
	Size limit; /* in words */
	uint32 *words;
	Size nwords;
	Size capacity;

	/* records on disk, once memory is full */
	BufFile *file;
	bool file_shared;  /* with others, whose records are before and after this one's */
	int start_segment; /* where its records begin */
	off_t start_offset;
	uint64 file_users;

	/* one record: the user being built, or the one read from disk */
	uint32 *record;
	Size record_capacity;
	uint32 building;  /* elements of the user being built */
	uint32 positions; /* that they are: an escape is one */
	bool parted;	  /* the last one is a boundary */
	bool too_long;	  /* there were more than the cap */
};

Corpus *
corpus_create(Size memory_limit, bool paired)
{
	Corpus *corpus = palloc0(sizeof(Corpus));

	corpus->context = CurrentMemoryContext;
	corpus->paired = paired;
	corpus->limit = memory_limit / sizeof(uint32);
	corpus->capacity = 1024;
	corpus->words = palloc(corpus->capacity * sizeof(uint32));
	corpus->record_capacity = 1024;
	corpus->record = palloc(corpus->record_capacity * sizeof(uint32));
	return corpus;
}

/*
 * A corpus whose records all go to a file that it shares with others: to where that is
 * being written now.  It must be complete before another is begun, and can't be rewritten.
 */
Corpus *
corpus_create_in(BufFile *file)
{
	Corpus *corpus = palloc0(sizeof(Corpus));

	corpus->context = CurrentMemoryContext;
	corpus->file = file;
	corpus->file_shared = true;
	BufFileTell(file, &corpus->start_segment, &corpus->start_offset);
	corpus->record_capacity = 16;
	corpus->record = palloc(corpus->record_capacity * sizeof(uint32));
	return corpus;
}

static inline Size
record_words(const Corpus *corpus, uint32 n)
{
	return HEADER_WORDS + (Size) n * (corpus->paired ? 2 : 1);
}

static void
record_reserve(Corpus *corpus, Size words)
{
	if (words <= corpus->record_capacity)
		return;
	while (corpus->record_capacity < words)
		corpus->record_capacity *= 2;
	corpus->record = repalloc_huge(corpus->record,
								   corpus->record_capacity * sizeof(uint32));
}

void
corpus_begin_user(Corpus *corpus, uint64 hash)
{
	corpus->record[0] = (uint32) hash;
	corpus->record[1] = (uint32) (hash >> 32);
	corpus->building = 0;
	corpus->positions = 0;
	corpus->parted = true; /* nothing to part yet */
	corpus->too_long = false;
}

/*
 * Appends n elements that are so many positions.  It is positions that are capped, since
 * what is an escape depends on memory and on other users' words.
 */
static void
append(Corpus *corpus, const uint32 *words, uint32 n, uint32 positions)
{
	if (corpus->too_long || positions > CORPUS_MAX_USER_TOKENS - corpus->positions)
	{
		corpus->too_long = true;
		return;
	}
	record_reserve(corpus, record_words(corpus, corpus->building + n));
	memcpy(corpus->record + HEADER_WORDS + corpus->building, words, n * sizeof(uint32));
	corpus->building += n;
	corpus->positions += positions;
	corpus->parted = false;
}

void
corpus_add_token(Corpus *corpus, uint32 id)
{
	Assert(id > 0 && id != CORPUS_WIDE);
	append(corpus, &id, 1, 1);
}

void
corpus_end_document(Corpus *corpus)
{
	static const uint32 boundary = 0;

	if (corpus->parted)
		return;
	append(corpus, &boundary, 1, 1);
	corpus->parted = true;
}

/*
 * corpus_add_document: the ids or escapes of a document, n elements that are so many
 * positions, with single boundaries within, but none at either end.  Of a document that
 * alone is beyond the cap the elements aren't looked at.
 */
void
corpus_add_document(Corpus *corpus, const uint32 *words, uint32 n, uint32 positions)
{
	append(corpus, words, n, positions);
	corpus_end_document(corpus);
}

/* The file lives as long as the corpus, whatever context the caller is in. */
static BufFile *
create_file(const Corpus *corpus)
{
	MemoryContext old = MemoryContextSwitchTo(corpus->context);
	BufFile *file = BufFileCreateTemp(false);

	MemoryContextSwitchTo(old);
	return file;
}

/* Append a record to the part in memory, or to the file once that is full. */
static void
store_record(Corpus *corpus, const uint32 *record, Size words)
{
	if (corpus->file == NULL && corpus->nwords + words <= corpus->limit)
	{
		if (corpus->nwords + words > corpus->capacity)
		{
			/* twice as much, until what stays unused would count */
			while (corpus->nwords + words > corpus->capacity)
				corpus->capacity += Max(Min(corpus->capacity, corpus->limit / 8), 1024);
			corpus->capacity = Min(corpus->capacity, corpus->limit);
			corpus->words = repalloc_huge(corpus->words, corpus->capacity * sizeof(uint32));
		}
		memcpy(corpus->words + corpus->nwords, record, words * sizeof(uint32));
		corpus->nwords += words;
		return;
	}
	if (corpus->file == NULL)
		corpus->file = create_file(corpus);
	BufFileWrite(corpus->file, unconstify(uint32 *, record), words * sizeof(uint32));
	corpus->file_users++;
}

void
corpus_end_user(Corpus *corpus)
{
	uint32 n = corpus->building;
	uint32 *ids = corpus->record + HEADER_WORDS;

	if (n > 0 && corpus->parted)
		n--;
	if (n == 0 || corpus->too_long)
		return;
	corpus->record[2] = n;
	if (corpus->paired)
		memcpy(ids + n, ids, n * sizeof(uint32));
	store_record(corpus, corpus->record, record_words(corpus, n));
}

void
corpus_scan_begin(CorpusScan *scan, Corpus *corpus, bool rewrite)
{
	memset(scan, 0, sizeof(*scan));
	scan->corpus = corpus;
	Assert(!(rewrite && corpus->file_shared));
	scan->rewrite = rewrite;
	scan->files_left = corpus->file_users;
	if (corpus->file != NULL &&
		BufFileSeek(corpus->file, corpus->start_segment, corpus->start_offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not rewind a temporary file")));
}

static void
read_words(Corpus *corpus, uint32 *to, Size words)
{
	if (BufFileRead(corpus->file, to, words * sizeof(uint32)) != words * sizeof(uint32))
		ereport(ERROR,
				(errcode_for_file_access(), errmsg("could not read from a temporary file")));
}

static void
hand_out(const Corpus *corpus, uint32 *record, CorpusUser *user)
{
	user->hash = (uint64) record[1] << 32 | record[0];
	user->n = record[2];
	user->id = record + HEADER_WORDS;
	user->token = corpus->paired ? user->id + user->n : NULL;
}

/* The next user; its arrays may be changed in place and are valid until the next call. */
bool
corpus_scan_next(CorpusScan *scan, CorpusUser *user)
{
	Corpus *corpus = scan->corpus;

	CHECK_FOR_INTERRUPTS();
	if (scan->next < corpus->nwords)
	{
		hand_out(corpus, corpus->words + scan->next, user);
		scan->next += record_words(corpus, user->n);
		return true;
	}
	if (scan->files_left == 0)
		return false;
	scan->files_left--;
	read_words(corpus, corpus->record, HEADER_WORDS);
	record_reserve(corpus, record_words(corpus, corpus->record[2]));
	read_words(corpus, corpus->record + HEADER_WORDS,
			   record_words(corpus, corpus->record[2]) - HEADER_WORDS);
	hand_out(corpus, corpus->record, user);
	return true;
}

/* Write header, ids and tokens at "to", which may overlap the user's arrays from below. */
static Size
pack_record(const Corpus *corpus, const CorpusUser *user, uint32 *to)
{
	to[0] = (uint32) user->hash;
	to[1] = (uint32) (user->hash >> 32);
	to[2] = user->n;
	memmove(to + HEADER_WORDS, user->id, user->n * sizeof(uint32));
	if (corpus->paired)
		memmove(to + HEADER_WORDS + user->n, user->token, user->n * sizeof(uint32));
	return record_words(corpus, user->n);
}

/*
 * In a rewriting pass: keep the user that was handed out last, with as many
 * positions as user->n now says.  A user that isn't kept is dropped.  Returns the record,
 * which stays there until the next such pass, or NULL where it is in the file.
 */
CorpusRecord *
corpus_scan_keep(CorpusScan *scan, const CorpusUser *user)
{
	Corpus *corpus = scan->corpus;
	Size words;

	Assert(scan->rewrite);
	if (user->id != corpus->record + HEADER_WORDS)
	{
		uint32 *to = corpus->words + scan->kept;

		scan->kept += pack_record(corpus, user, to);
		return (CorpusRecord *) to;
	}
	words = pack_record(corpus, user, corpus->record);
	if (scan->out == NULL)
		scan->out = create_file(corpus);
	BufFileWrite(scan->out, corpus->record, words * sizeof(uint32));
	scan->out_users++;
	return NULL;
}

void
corpus_scan_end(CorpusScan *scan)
{
	Corpus *corpus = scan->corpus;

	if (!scan->rewrite)
		return;
	corpus->nwords = scan->kept;
	if (corpus->file != NULL)
		BufFileClose(corpus->file);
	corpus->file = scan->out;
	corpus->file_users = scan->out_users;
}

/*
 * corpus_room: bytes that documents may take which are to become this corpus, so that
 * both are within its limit while they do.
 */
Size
corpus_room(const Corpus *corpus)
{
	Size bytes = corpus->limit * sizeof(uint32);

	return corpus->paired ? bytes / 2 : bytes;
}

bool
corpus_spilled(const Corpus *corpus)
{
	return corpus->file != NULL;
}

void
corpus_free(Corpus *corpus)
{
	if (corpus->file != NULL && !corpus->file_shared)
		BufFileClose(corpus->file);
	if (corpus->words != NULL)
		pfree(corpus->words);
	pfree(corpus->record);
	pfree(corpus);
}
