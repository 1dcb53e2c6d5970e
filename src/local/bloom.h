/*
 * bloom.h
 *	  RAPPOR's Bloom filters: which bits a value sets, and how a client reports them.
 */
#ifndef DPNGRAM_LOCAL_BLOOM_H
#define DPNGRAM_LOCAL_BLOOM_H

#include "local/oracle.h"

/* A filter is one word, lowest bit first. */
#define BLOOM_MAX_BITS 64
#define BLOOM_MAX_HASHES 8

typedef struct Bloom
{
	int bits;	 /* k */
	int hashes;	 /* h: bits that a value sets, exactly */
	uint64 flip; /* f/2: P(a permanent bit is not the true one); 0: no permanent bits */
	uint64 yes;	 /* q: P(1 is reported | permanent bit 1), in 2^-ORACLE_BITS as all of them */
	uint64 no;	 /* p: P(1 is reported | permanent bit 0) */
	double one;	 /* q*: P(1 is reported | true bit 1) */
	double zero; /* p*: P(1 is reported | true bit 0) */
} Bloom;

extern DpStatus bloom_once(double epsilon, int bits, int hashes, Bloom *bloom);
extern DpStatus bloom_repeated(double epsilon, double lifetime, int bits, int hashes,
							   Bloom *bloom);

extern uint64 bloom_item_bits(const Bloom *bloom, uint32 cohort, uint32 role, uint64 item);

/* the client's half */
extern uint64 bloom_trials(DpRandom *rng, uint64 probability);
extern DpStatus bloom_permanent(const Bloom *bloom, const uint8 *secret, int secret_length,
								uint32 cohort, uint32 role, const uint16 *symbol, int n,
								uint64 truth, uint64 *permanent);
extern uint64 bloom_answer(const Bloom *bloom, DpRandom *rng, uint64 permanent);

#endif /* DPNGRAM_LOCAL_BLOOM_H */
