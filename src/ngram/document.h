/*
 * document.h
 *	  A tokenised document as a record, in memory or in a file, until it is grouped with its
 *	  user's others (documents.c).
 */
#ifndef DPNGRAM_DOCUMENT_H
#define DPNGRAM_DOCUMENT_H

#include "ngram/corpus.h"
#include "ngram/users.h"

/* Followed by the user's value and the words, both padded to eight bytes. */
typedef struct Document
{
	uint64 hash;
	union
	{
		Size size;			   /* of all of it, in a file */
		struct Document *next; /* of the same hash, while it is grouped */
	};
	uint32 n;		  /* words */
	uint32 positions; /* an escape is one; and the flags below, while it is grouped */
} Document;

/* Of the first document of a hash: it is; and there are several users of this hash. */
#define FIRST_OF_HASH (UINT32_C(1) << 31)
#define MIXED_HASH (UINT32_C(1) << 30)

StaticAssertDecl(CORPUS_MAX_USER_TOKENS < MIXED_HASH - 1, "positions leave room for flags");

/* The bytes of a user's value in a record. */
static inline Size
document_user_size(const UserType *users, Datum user)
{
	const TypeCacheEntry *type = users->entry;

	return type->typbyval ? sizeof(Datum) : MAXALIGN(datumGetSize(user, false, type->typlen));
}

static inline Datum
document_user(const UserType *users, Document *document)
{
	return users->entry->typbyval ? *(Datum *) (document + 1) :
									PointerGetDatum(document + 1);
}

static inline const uint32 *
document_words(const UserType *users, Document *document)
{
	Size user = document_user_size(users, document_user(users, document));

	return (uint32 *) ((char *) (document + 1) + user);
}

/* What aligns the value and the words is 0: files get no bytes that nobody has written. */
static inline void
document_write(const UserType *users, Document *to, const Document *header, Datum user,
			   Size user_size, const uint32 *words)
{
	const TypeCacheEntry *type = users->entry;
	char *data = (char *) (to + 1);

	*to = *header;
	/* what pads the two parts goes to files, too */
	memset(data + user_size - sizeof(uint64), 0, sizeof(uint64));
	if (type->typbyval)
		*(Datum *) data = user;
	else
		memcpy(data, DatumGetPointer(user), datumGetSize(user, false, type->typlen));
	data += user_size;
	memcpy(data, words, header->n * sizeof(uint32));
	if (header->n % 2 == 1)
		((uint32 *) data)[header->n] = 0;
}

/* The record after this one in its chunk. */
static inline Document *
document_following(const UserType *users, Document *document)
{
	const uint32 *words = document_words(users, document);

	return (Document *) ((char *) words + MAXALIGN(document->n * sizeof(uint32)));
}

#endif /* DPNGRAM_DOCUMENT_H */
