/*
 * oue.c
 *	  The SQL aggregate oue_count() and the client's half of it: one bit under local
 *	  differential privacy.
 *
 * The aggregate's state is an array of three numbers, epsilon, the bits and those that are
 * true: a real SQL type, so that parallel workers and other servers can pass it on.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "access/htup_details.h"
#include "api/checks.h"
#include "api/local_arguments.h"
#include "compat.h"
#include "dpngram_errcodes.h"
#include "ngram/noise.h"

#define STATE_SIZE 3

/* The largest number of bits of which a float8 counts each. */
#define MAX_BITS 9007199254740992.0

typedef struct OueState
{
	double epsilon; /* 0: no bit yet */
	double bits;
	double ones;
} OueState;

PG_FUNCTION_INFO_V1(dpngram_oue_bit);
PG_FUNCTION_INFO_V1(dpngram_oue_accum);
PG_FUNCTION_INFO_V1(dpngram_oue_combine);
PG_FUNCTION_INFO_V1(dpngram_oue_final);

static Datum
report_bit(FunctionCallInfo fcinfo)
{
	double epsilon = local_epsilon_argument(fcinfo, 1);
	Oracle oracle;
	DpRandom rng;
	bool answer;

	(void) oracle_bits(epsilon, &oracle);
	dp_random_system(&rng, noise_failure);
	answer = oracle_answer_bit(&oracle, &rng, !PG_ARGISNULL(0) && PG_GETARG_BOOL(0));
	dp_random_clear(&rng);
	PG_RETURN_BOOL(answer);
}

/*
 * oue_bit(truth, epsilon): what a client reports of a bit: true with probability 1/2 if
 * it is true, else with probability 1 / (e^epsilon + 1).  Else includes NULL: that a
 * client has no bit is as private as which.
 */
Datum
dpngram_oue_bit(PG_FUNCTION_ARGS)
{
	return call_discreetly(report_bit, fcinfo);
}

static OueState
state_argument(FunctionCallInfo fcinfo, int n)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(n);
	OueState state;

	if (ARR_NDIM(array) != 1 || ARR_DIMS(array)[0] != STATE_SIZE || ARR_HASNULL(array) ||
		ARR_ELEMTYPE(array) != FLOAT8OID)
		bad_argument("state", "an array of three numbers");
	memcpy(&state, ARR_DATA_PTR(array), sizeof(state));
	if (!(state.ones >= 0 && state.ones <= state.bits && state.bits <= MAX_BITS))
		bad_argument("state", "one of oue_count");
	return state;
}

static Datum
return_state(const OueState *state)
{
	Datum element[STATE_SIZE] = {Float8GetDatum(state->epsilon), Float8GetDatum(state->bits),
								 Float8GetDatum(state->ones)};

	PG_RETURN_ARRAYTYPE_P(construct_array(element, STATE_SIZE, FLOAT8OID, sizeof(float8),
										  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

static void
agree(OueState *state, double epsilon)
{
	if (state->bits > 0 && state->epsilon != epsilon)
		bad_argument("epsilon", "the same for all bits of oue_count");
	state->epsilon = epsilon;
}

/* Transition function. */
Datum
dpngram_oue_accum(PG_FUNCTION_ARGS)
{
	OueState state = state_argument(fcinfo, 0);

	agree(&state, local_epsilon_argument(fcinfo, 2));
	state.bits++;
	state.ones += PG_GETARG_BOOL(1) ? 1 : 0;
	return return_state(&state);
}

Datum
dpngram_oue_combine(PG_FUNCTION_ARGS)
{
	OueState state = state_argument(fcinfo, 0);
	OueState other = state_argument(fcinfo, 1);

	if (other.bits > 0)
		agree(&state, other.epsilon);
	state.bits += other.bits;
	state.ones += other.ones;
	return return_state(&state);
}

/* The unbiased estimate of how many bits were true, and its standard deviation. */
Datum
dpngram_oue_final(PG_FUNCTION_ARGS)
{
	OueState state = state_argument(fcinfo, 0);
	TupleDesc descriptor;
	Oracle oracle;
	Datum values[2];
	bool nulls[2] = {false};
	double count;

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (state.bits == 0)
		PG_RETURN_NULL();
	if (oracle_bits(state.epsilon, &oracle) != DP_OK)
		bad_argument("state", "one of oue_count");
	count = oracle_estimate(&oracle, (int64) state.ones, (int64) state.bits);
	values[0] = Float8GetDatum(count);
	values[1] = Float8GetDatum(sqrt(oracle_variance(&oracle, count, (int64) state.bits)));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls)));
}
