/*
 * ngrams.c
 *	  The SQL functions dp_ngrams() and dp_set_union().
 *
 * Arguments, units, errors and sources: COMMENT ON in src/sql/20_ngrams.sql
 * and doc/.
 */
#include "postgres.h"

#include "fmgr.h"

#include "api/release.h"
#include "compat.h"

PG_FUNCTION_INFO_V1(dpngram_dp_ngrams);
PG_FUNCTION_INFO_V1(dpngram_dp_set_union);

/* dp_ngrams(...): n-grams that many users share (DPNE, Kim et al. 2021). */
Datum
dpngram_dp_ngrams(PG_FUNCTION_ARGS)
{
	NgramArguments arguments;

	InitMaterializedSRF(fcinfo, 0);
	parse_ngrams_arguments(fcinfo, &arguments);
	release_ngrams(fcinfo, &arguments, true);
	return (Datum) 0;
}

/* dp_set_union(...): values of a column that many users share (DPSU, Gopi et al. 2020). */
Datum
dpngram_dp_set_union(PG_FUNCTION_ARGS)
{
	NgramArguments arguments;

	InitMaterializedSRF(fcinfo, 0);
	parse_set_union_arguments(fcinfo, &arguments);
	release_ngrams(fcinfo, &arguments, false);
	return (Datum) 0;
}
