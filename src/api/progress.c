/*
 * progress.c
 *	  Telling a session how far its release has come, where dpngram.progress asks for it.
 *
 * During a run nothing else is sent to the client (release.c).  What is told here follows
 * from the call and its rows alone: a length is begun where the one before had n-grams.
 * When it is told depends on the data, as does how long a call takes; timing is out of
 * scope.  But where a run is begun again, as when its workers fail, what the first attempt
 * told is of other noise than the rows: so who begins again asks progress_told() first.
 */
#include "postgres.h"

#include "tcop/tcopprot.h"

#include "api/progress.h"
#include "api/settings.h"

/* Of the present run; a release within another one's has nowhere to send messages to. */
static Progress progress = {DestNone, false};

/* A run begins; returns what progress_end() wants back, also after an error. */
Progress
progress_begin(CommandDest client)
{
	Progress outer = progress;

	progress = (Progress){client, false};
	return outer;
}

void
progress_end(Progress outer)
{
	progress = outer;
}

static void
tell(const char *message)
{
	CommandDest silent = whereToSendOutput;

	if (!dpngram_progress)
		return;
	whereToSendOutput = progress.client;
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
	progress.told |= dpngram_progress && length > 1;
}

/* Has the run told anything that its noise decided? */
bool
progress_told(void)
{
	return progress.told;
}
