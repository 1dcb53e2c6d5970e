/*
 * aggregates.c
 *	  The SQL aggregates kl_divergence(), cross_entropy() and perplexity(): how far
 *	  one distribution is from another.
 *
 * All three have one kind of state, an array of four numbers: two compensated sums
 * (common/dp_sum.h), of weights and of weighted logarithms.  It is a real SQL type, so
 * that parallel workers, partitions and other servers can pass it on as it is; serial
 * and deserial functions exist only for states of type "internal".  Compensation makes
 * the result independent of how the rows were divided, to about the last digit.
 *
 * Rows with a NULL are skipped, since the functions are strict.  0 ln 0 is 0.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "dpngram_errcodes.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/float.h"

#include "api/checks.h"
#include "common/dp_sum.h"

typedef struct State
{
	DpSum weight;
	DpSum value;
} State;

#define STATE_SIZE 4

PG_FUNCTION_INFO_V1(dpngram_kl_accum);
PG_FUNCTION_INFO_V1(dpngram_kl_final);
PG_FUNCTION_INFO_V1(dpngram_cross_entropy_accum);
PG_FUNCTION_INFO_V1(dpngram_cross_entropy_final);
PG_FUNCTION_INFO_V1(dpngram_perplexity_accum);
PG_FUNCTION_INFO_V1(dpngram_perplexity_final);
PG_FUNCTION_INFO_V1(dpngram_evaluation_combine);

/* ---- states ---- */

/* A state that is an argument. */
static ArrayType *
state_array(FunctionCallInfo fcinfo, int n)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(n);

	if (ARR_NDIM(array) != 1 || ARR_DIMS(array)[0] != STATE_SIZE || ARR_HASNULL(array) ||
		ARR_ELEMTYPE(array) != FLOAT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DP_ARGUMENT),
				 errmsg("expected an array of %d numbers", STATE_SIZE)));
	return array;
}

static State
state_argument(FunctionCallInfo fcinfo, int n)
{
	const double *number = (const double *) ARR_DATA_PTR(state_array(fcinfo, n));

	return (State){{number[0], number[1]}, {number[2], number[3]}};
}

/* The new state: in place of the old one where an aggregate calls, else an array of its own. */
static Datum
return_state(FunctionCallInfo fcinfo, const State *state)
{
	const double number[STATE_SIZE] = {state->weight.sum, state->weight.rest, state->value.sum,
									   state->value.rest};
	Datum element[STATE_SIZE];

	if (AggCheckCallContext(fcinfo, NULL))
	{
		ArrayType *array = state_array(fcinfo, 0);

		memcpy(ARR_DATA_PTR(array), number, sizeof(number));
		PG_RETURN_ARRAYTYPE_P(array);
	}
	for (int i = 0; i < STATE_SIZE; i++)
		element[i] = Float8GetDatum(number[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(element, STATE_SIZE, FLOAT8OID, sizeof(float8),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* An infinite sum is the answer where a probability is 0, and else too large to be one. */
static void
add(DpSum *sum, double number)
{
	bool finite = isfinite(sum->sum) && isfinite(number);

	dp_sum_add(sum, number);
	if (finite && !isfinite(sum->sum))
		float_overflow_error();
}

static double
finite_argument(FunctionCallInfo fcinfo, int n, const char *name, const char *must)
{
	double value = PG_GETARG_FLOAT8(n);

	if (!(value >= 0) || isinf(value))
		bad_argument(name, must);
	return value;
}

static double
probability(FunctionCallInfo fcinfo, int n, const char *name)
{
	return finite_argument(fcinfo, n, name, "a probability, finite and not negative");
}

/* evaluation_combine(a, b): the state of both groups of rows. */
Datum
dpngram_evaluation_combine(PG_FUNCTION_ARGS)
{
	State state = state_argument(fcinfo, 0);
	State other = state_argument(fcinfo, 1);

	add(&state.weight, other.weight.sum);
	add(&state.weight, other.weight.rest);
	add(&state.value, other.value.sum);
	add(&state.value, other.value.rest);
	return return_state(fcinfo, &state);
}

/* ---- kl_divergence(p, q): the sum of p ln(p / q) ---- */

/*
 * p ln(p / q), exact to the last digits also where p is close to q: their difference is
 * exact then (Sterbenz).  Infinite where q alone is 0.
 */
static double
divergence_term(double p, double q)
{
	double ratio = p / q;

	if (p == 0)
		return 0;
	if (ratio >= 0.5 && ratio <= 2)
		return p * log1p((p - q) / q);
	if (q > 0 && (ratio == 0 || isinf(ratio)))
		return p * (log(p) - log(q));
	return p * log(ratio);
}

Datum
dpngram_kl_accum(PG_FUNCTION_ARGS)
{
	State state = state_argument(fcinfo, 0);
	double p = probability(fcinfo, 1, "p");
	double q = probability(fcinfo, 2, "q");

	add(&state.weight, 1);
	add(&state.value, divergence_term(p, q));
	return return_state(fcinfo, &state);
}

Datum
dpngram_kl_final(PG_FUNCTION_ARGS)
{
	State state = state_argument(fcinfo, 0);

	if (dp_sum_value(&state.weight) == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(dp_sum_value(&state.value));
}

/* ---- cross_entropy(count, p): minus the mean of ln p, by counts ---- */

Datum
dpngram_cross_entropy_accum(PG_FUNCTION_ARGS)
{
	State state = state_argument(fcinfo, 0);
	double count = finite_argument(fcinfo, 1, "count", "finite and not negative");
	double p = probability(fcinfo, 2, "p");

	if (count > 0)
	{
		add(&state.weight, count);
		add(&state.value, count * log(p));
	}
	return return_state(fcinfo, &state);
}

/* NULL if the counts are all 0. */
Datum
dpngram_cross_entropy_final(PG_FUNCTION_ARGS)
{
	State state = state_argument(fcinfo, 0);
	double weight = dp_sum_value(&state.weight);

	if (weight == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8((0 - dp_sum_value(&state.value)) / weight); /* 0 - 0 is not -0 */
}

/* ---- perplexity(p): exp of minus the mean of ln p ---- */

Datum
dpngram_perplexity_accum(PG_FUNCTION_ARGS)
{
	State state = state_argument(fcinfo, 0);
	double p = probability(fcinfo, 1, "p");

	add(&state.weight, 1);
	add(&state.value, log(p));
	return return_state(fcinfo, &state);
}

Datum
dpngram_perplexity_final(PG_FUNCTION_ARGS)
{
	State state = state_argument(fcinfo, 0);
	double rows = dp_sum_value(&state.weight);
	double mean;
	double result;

	if (rows == 0)
		PG_RETURN_NULL();
	mean = dp_sum_value(&state.value) / rows;
	result = exp(-mean);
	if (isinf(result) && !isinf(mean))
		float_overflow_error();
	PG_RETURN_FLOAT8(result);
}
