/*
 * word_file.c
 *	  Texts of words that have no place in memory, by their keys.
 *
 * A temporary file of (key, length, bytes), written as the words come and read once, from
 * its beginning.  Words repeat; one that was written lately is not written again, which
 * a small table by their keys remembers.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "ngram/temp_file.h"
#include "ngram/word_file.h"

struct WordFile
{
	MemoryContext context;
	BufFile *file;
	uint64 words; /* written */
	int recent;	  /* places of the table: a power of two */
	uint64 *key;  /* and 1: of the last word written that has this place; 0: none */
};

typedef struct WordHeader
{
	uint64 key;
	Size len;
} WordHeader;

/*
 * word_file_create: an empty file, which lives in the current memory context.
 *
 * recent: how many words to remember, a power of two.
 */
WordFile *
word_file_create(int recent)
{
	WordFile *file = palloc0(sizeof(WordFile));

	file->context = CurrentMemoryContext;
	file->recent = recent;
	file->key = palloc0(recent * sizeof(uint64));
	file->file = BufFileCreateTemp(false);
	return file;
}

/* word_file_add: a word whose key is random in its low bits, and not the largest number. */
void
word_file_add(WordFile *file, uint64 key, const char *bytes, int len)
{
	uint64 *place = &file->key[key & (file->recent - 1)];
	WordHeader header = {.key = key, .len = (Size) len};

	if (*place == key + 1)
		return;
	*place = key + 1;
	BufFileWrite(file->file, &header, sizeof(header));
	BufFileWrite(file->file, unconstify(char *, bytes), len);
	file->words++;
}

/* word_file_visit: every word in the file, one that was written twice twice. */
void
word_file_visit(WordFile *file, WordFileVisitor visit, void *state)
{
	Size capacity = 1024;
	char *bytes = palloc(capacity);

	temp_file_rewind(file->file);
	for (uint64 i = 0; i < file->words; i++)
	{
		WordHeader header;

		CHECK_FOR_INTERRUPTS();
		temp_file_read(file->file, &header, sizeof(header));
		if (header.len > capacity)
		{
			pfree(bytes);
			capacity = header.len * 2;
			bytes = MemoryContextAllocHuge(CurrentMemoryContext, capacity);
		}
		temp_file_read(file->file, bytes, header.len);
		visit(state, header.key, bytes, (int) header.len);
	}
	pfree(bytes);
}

void
word_file_free(WordFile *file)
{
	BufFileClose(file->file);
	pfree(file->key);
	pfree(file);
}
