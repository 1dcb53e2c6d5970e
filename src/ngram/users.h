/*
 * users.h
 *	  How users are told apart: by the type of the user column.
 */
#ifndef DPNGRAM_USERS_H
#define DPNGRAM_USERS_H

#include "postgres.h"

#include "compat.h"
#include "utils/datum.h"
#include "utils/typcache.h"

typedef struct UserType
{
	Oid type; /* no domain */
	Oid collation;
	bool hashed; /* by a hash that equal users share */
	TypeCacheEntry *entry;
} UserType;

extern UserType user_type(Oid type, Oid collation);
extern bool user_type_parallel_safe(const UserType *type);
extern uint64 user_hash(const UserType *type, Datum user);
extern int user_compare(const UserType *type, Datum a, Datum b);

/* Types without an extended hash function: their users have hash 0, all of them. */
static inline bool
user_type_hashed(const UserType *type)
{
	return type->hashed;
}

/* The value as it is compared, hashed and copied: detoasted, but maybe packed. */
static inline Datum
user_value(const UserType *type, Datum user)
{
	return type->entry->typlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_PACKED(user)) : user;
}

/* Values of the same bytes are equal, whatever the type. */
static inline bool
same_value(const UserType *type, Datum a, Datum b)
{
	return datumIsEqual(a, b, type->entry->typbyval, type->entry->typlen);
}

static inline bool
same_user(const UserType *type, Datum a, Datum b)
{
	return same_value(type, a, b) || user_compare(type, a, b) == 0;
}

/*
 * Does this collation order by bytes on every server?  (That of a database may, too, but
 * not on the next one; and utils/pg_locale.h, which could tell, wants the headers of ICU.)
 */
static inline bool
collation_is_bytes(Oid collation)
{
	return collation == C_COLLATION_OID || collation == POSIX_COLLATION_OID;
}

#endif /* DPNGRAM_USERS_H */
