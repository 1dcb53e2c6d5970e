/*
 * report.h
 *	  What one client sends in the protocols of one report, PEM and TreeHist.
 */
#ifndef DPNGRAM_LOCAL_REPORT_H
#define DPNGRAM_LOCAL_REPORT_H

#include "common/dp_base.h"

/*
 * A client takes its place by lot, whatever its term, from 0 .. LOCAL_TICKETS - 1.  So
 * several clients may stand at one place, and some places stay empty.
 */
#define LOCAL_TICKETS (INT64CONST(1) << 20)

/* The order of the members leaves no gap between them. */
typedef struct LocalReport
{
	uint64 seed;  /* of the hash, or of the row of a matrix; drawn by the client */
	uint32 place; /* says which group the client belongs to */
	uint32 value; /* the randomised answer */
} LocalReport;

#endif /* DPNGRAM_LOCAL_REPORT_H */
