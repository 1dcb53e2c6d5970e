/*
 * dp_base.h
 *	  What every file of src/common starts from.
 *
 * src/common knows no database: like PostgreSQL's own src/common it builds as
 * backend code (with FRONTEND undefined) and as plain programs (with FRONTEND
 * defined), so that unit tests, sanitizers and fuzzers need no server.  It
 * never calls ereport(); what can fail returns a DpStatus and the caller maps
 * it.  The one thing that may end a function early is a cancel (dp_mixture.c).
 */
#ifndef DP_BASE_H
#define DP_BASE_H

#ifdef FRONTEND
#include "postgres_fe.h"
#else
#include "postgres.h"
#endif

typedef unsigned __int128 dp_uint128;

typedef enum DpStatus
{
	DP_OK = 0,
	DP_ERR_DOMAIN, /* an argument lies outside the function's domain */
	DP_ERR_RANGE   /* the result can't be represented or found */
} DpStatus;

/*
 * Released weights live on the lattice of multiples of 2^-DP_LATTICE_BITS:
 * a weight w is stored as the integer w * 2^DP_LATTICE_BITS.
 */
#define DP_LATTICE_BITS 20
#define DP_LATTICE_ONE (INT64CONST(1) << DP_LATTICE_BITS)

/* The public cap on one user's distinct keys a level, see dp_slack_epsilon(). */
#define DP_MAX_KEYS (1 << 20)

#endif /* DP_BASE_H */
