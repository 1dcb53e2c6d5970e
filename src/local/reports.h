/*
 * reports.h
 *	  A poll of the reports that PEM's clients have sent.
 */
#ifndef DPNGRAM_LOCAL_REPORTS_H
#define DPNGRAM_LOCAL_REPORTS_H

#include "local/pem.h"

typedef struct Reports
{
	const PemPlan *plan;
	LocalReport *report; /* the valid ones, by place */
	int64 n;
	int64 invalid; /* of no place or value of the plan; not counted */
} Reports;

extern void reports_init(Reports *reports, const PemPlan *plan, LocalReport *report, int64 n);
extern Poll reports_poll(Reports *reports);

#endif /* DPNGRAM_LOCAL_REPORTS_H */
