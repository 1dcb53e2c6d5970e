/*
 * phase_call.c
 *	  A private release whose rows are read in the session that asks, where the clock is.
 *
 * It is charged as any other, by a worker; then the mechanism runs here.
 */
#include "postgres.h"

#include "api/release.h"
#include "api/settings.h"
#include "phase_clock.h"

extern void __wrap_release_texts(FunctionCallInfo fcinfo, const ReleaseCall *call);

void
__wrap_release_texts(FunctionCallInfo fcinfo, const ReleaseCall *call)
{
	const LedgerTask nothing = {0};
	LedgerAccess *access = ledger_open(call->target->relid);
	ReadSpec spec = target_spec(access, call->target);
	LedgerRequest request = call->request(call->state, &access->terms);
	RowSink sink = result_sink((ReturnSetInfo *) fcinfo->resultinfo);
	void *state = call->methods->start(call->plan, NULL);
	LedgerCall *charge;
	Noise noise;

	request.seeded = dpngram_test_seed != 0;
	charge = ledger_call(access, &request, &nothing);
	noise_init(&noise, dpngram_test_seed != 0, dpngram_test_seed);
	call->methods->run(state, &spec, &noise, charge->segment->chosen);
	noise_clear(&noise);
	ledger_call_end(charge);
	call->methods->rows(state, &sink);
}
