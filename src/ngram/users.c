/*
 * users.c
 *	  How users are told apart: by the comparison and the extended hash function of
 *	  the user column's type.
 *
 * Equal users have one hash: the type cache gives a hash function only where it goes
 * with the operator "=" by which the type is ordered, if it has been asked for that
 * operator, too.  The reverse is no rule, and whoever groups by hashes compares, too:
 * merging two users would be one user's bound for both, and parting one would be two
 * bounds for one.
 */
#include "postgres.h"

#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "ngram/users.h"
#include "utils/lsyscache.h"

/*
 * A nondeterministic collation makes equal what differs in bytes.  The hash functions of
 * these types know that; that of "name", for one, goes by the bytes whatever the collation.
 */
static bool
hash_minds_collation(const UserType *type)
{
	return !OidIsValid(type->collation) || get_collation_isdeterministic(type->collation) ||
		   type->type == TEXTOID || type->type == VARCHAROID || type->type == BPCHAROID;
}

/* user_type: users of this type, or of the type that it is a domain over */
UserType
user_type(Oid type, Oid collation)
{
	UserType users = {.type = getBaseType(type), .collation = collation};

	users.entry = lookup_type_cache(users.type, TYPECACHE_EQ_OPR | TYPECACHE_CMP_PROC_FINFO |
													TYPECACHE_HASH_EXTENDED_PROC_FINFO);
	users.hashed = OidIsValid(users.entry->hash_extended_proc_finfo.fn_oid) &&
				   hash_minds_collation(&users);
	return users;
}

/* user_type_parallel_safe: may a parallel worker compare users? */
bool
user_type_parallel_safe(const UserType *type)
{
	Oid compare = type->entry->cmp_proc_finfo.fn_oid;

	return OidIsValid(compare) && func_parallel(compare) == PROPARALLEL_SAFE;
}

/*
 * user_hash: a hash that equal users share.  Users of the few types that are ordered but
 * not hashed all get the same one, and so keep n-grams by one order: the value's text
 * would do for most of those types, but need not be the same for equal values.
 */
uint64
user_hash(const UserType *type, Datum user)
{
	if (!user_type_hashed(type))
		return 0;
	return DatumGetUInt64(FunctionCall2Coll(&type->entry->hash_extended_proc_finfo,
											type->collation, user, UInt64GetDatum(0)));
}

/* user_compare: the order of two users, 0 where they are one */
int
user_compare(const UserType *type, Datum a, Datum b)
{
	return DatumGetInt32(FunctionCall2Coll(&type->entry->cmp_proc_finfo, type->collation, a, b));
}
