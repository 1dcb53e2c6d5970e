/*
 * progress.c
 *	  Telling a session how far its release has come, where dpngram.progress asks for it.
 *
 * The worker of the call tells it, and the session makes NOTICEs of it.  What is told follows
 * from the call and its rows alone: a length is begun where the one before had n-grams.
 * When it is told depends on the data, as does how long a call takes; timing is out of
 * scope.
 */
#include "postgres.h"

#include "storage/ipc.h"

#include "api/progress.h"
#include "api/release_task.h"
#include "compat.h"

/* To the caller; NULL: it wants to hear nothing. */
static shm_mq_handle *listener = NULL;

void
progress_begin(shm_mq_handle *queue)
{
	listener = queue;
}

static void
tell(const char *message)
{
	char head[MAXIMUM_ALIGNOF] = {MESSAGE_PROGRESS};
	shm_mq_iovec part[2] = {{.data = head, .len = sizeof(head)},
							{.data = message, .len = strlen(message) + 1}};

	if (listener != NULL && shm_mq_sendv(listener, part, 2, false, true) != SHM_MQ_SUCCESS)
		proc_exit(0); /* the caller is gone */
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
