/*
 * progress.c
 *	  Telling a session how far its release has come, where dpngram.progress asks for it.
 *
 * During a run nothing else is sent to the client (release.c).  What is told here follows
 * from the call and its rows alone: a length is begun where the one before had n-grams.
 * When it is told depends on the data, as does how long a call takes; timing is out of
 * scope.
 */
#include "postgres.h"

#include "tcop/tcopprot.h"

#include "api/progress.h"
#include "api/settings.h"

/* Where messages go outside of the run; a release within another one's has nowhere. */
static CommandDest progress_client = DestNone;

/* A run begins; returns what progress_end() wants back, also after an error. */
CommandDest
progress_begin(CommandDest client)
{
	CommandDest outer = progress_client;

	progress_client = client;
	return outer;
}

void
progress_end(CommandDest outer)
{
	progress_client = outer;
}

static void
tell(const char *message)
{
	CommandDest silent = whereToSendOutput;

	if (!dpngram_progress)
		return;
	whereToSendOutput = progress_client;
	ereport(NOTICE, (errmsg_internal("%s", message), errhidestmt(true), errhidecontext(true)));
	whereToSendOutput = silent;
}

/* The price is charged, and the relation is being read. */
void
progress_reading(void)
{
	tell("dpngram: reading the relation");
}

/* All shorter n-grams are released. */
void
progress_length(int length, int max_length)
{
	tell(psprintf("dpngram: length %d of %d", length, max_length));
}
