/*
 * oracle.h
 *	  Frequency oracles: how one user's answer is randomised, and how many users had
 *	  what was asked for.
 */
#ifndef DPNGRAM_LOCAL_ORACLE_H
#define DPNGRAM_LOCAL_ORACLE_H

#include "common/dp_random.h"

/* Probabilities are multiples of 2^-ORACLE_BITS, so that a trial is exact in integers. */
#define ORACLE_BITS 62
#define ORACLE_ONE (UINT64CONST(1) << ORACLE_BITS)

/* What epsilon may be. */
#define ORACLE_MIN_EPSILON 1e-6
#define ORACLE_MAX_EPSILON 32.0

/* What a user is asked to report. */
typedef enum OracleKind
{
	ORACLE_BITS_OF_NODES, /* a bit for each thing asked about: optimised randomised response */
	ORACLE_SIGN,		  /* one bit, symmetric: randomised response (Warner 1965) */
	ORACLE_CHOICE,		  /* one of g values: generalised randomised response */
	ORACLE_HASH			  /* one of g hash values of what the user has, with the hash's seed */
} OracleKind;

typedef struct Oracle
{
	OracleKind kind;
	uint64 yes;	   /* P(an item is supported | the user has it), in 2^-ORACLE_BITS */
	uint64 no;	   /* P(it is supported | the user has it not), likewise */
	uint64 keep;   /* choice, hash: P(the value itself is reported), likewise; equals yes */
	uint32 values; /* choice, hash: g */
} Oracle;

extern DpStatus oracle_bits(double epsilon, Oracle *oracle);
extern DpStatus oracle_sign(double epsilon, Oracle *oracle);
extern DpStatus oracle_choice(double epsilon, uint32 values, Oracle *oracle);
extern DpStatus oracle_hash(double epsilon, Oracle *oracle);

/* the client's half */
extern bool oracle_trial(DpRandom *rng, uint64 probability);
extern bool oracle_answer_bit(const Oracle *oracle, DpRandom *rng, bool truth);
extern uint32 oracle_answer_value(const Oracle *oracle, DpRandom *rng, uint32 truth);
extern uint64 oracle_item(const uint16 *symbol, int n);
extern uint32 oracle_hash_value(const Oracle *oracle, uint64 seed, uint64 item);

/* the server's half */
extern double oracle_estimate(const Oracle *oracle, int64 supported, int64 users);
extern double oracle_variance(const Oracle *oracle, double holders, int64 users);

#endif /* DPNGRAM_LOCAL_ORACLE_H */
