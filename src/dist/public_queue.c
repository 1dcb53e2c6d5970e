/*
 * public_queue.c
 *	  The public side of a distribution on its way from the session that read it, with the
 *	  caller's rights, to the process that counts its n-grams in texts.
 *
 * A message says how many n-grams there are; then each has one, its count and its bytes.
 */
#include "postgres.h"

#include "compat.h"
#include "dist/public.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

typedef struct PublicHead
{
	uint32 size;
	int n;
	bool escaped;
} PublicHead;

/* One message; false: nobody takes it in time, or any more. */
static bool
send(shm_mq_handle *queue, shm_mq_iovec *part, int parts, bool flush, TimestampTz deadline)
{
	shm_mq_result result;

	while ((result = shm_mq_sendv(queue, part, parts, true, flush)) == SHM_MQ_WOULD_BLOCK)
	{
		long left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);

		if (left <= 0)
			return false;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, left,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return result == SHM_MQ_SUCCESS;
}

/*
 * public_send: all n-grams, as public_read() has left them.  If nobody takes them until the
 * deadline, it just returns: why will be heard by who waits for the answer.
 */
void
public_send(const PublicGrams *grams, shm_mq_handle *queue, TimestampTz deadline)
{
	PublicHead head = {grams->size, grams->n, grams->escaped};
	shm_mq_iovec first = {.data = (const char *) &head, .len = sizeof(head)};

	if (!send(queue, &first, 1, true, deadline))
		return;
	for (uint32 i = 0; i < grams->size; i++)
	{
		shm_mq_iovec part[2] = {{.data = (const char *) &grams->count[i], .len = sizeof(int64)},
								{.data = VARDATA_ANY(grams->gram[i]),
								 .len = VARSIZE_ANY_EXHDR(grams->gram[i])}};

		if (!send(queue, part, 2, i == grams->size - 1, deadline))
			return;
	}
}

/* The next message, which must be there. */
static char *
receive(shm_mq_handle *queue, Size *size)
{
	void *data;

	if (shm_mq_receive(queue, size, &data, false) != SHM_MQ_SUCCESS)
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE), errmsg("the caller of a release is gone")));
	return data;
}

static void
set_probabilities(PublicGrams *grams)
{
	long double total = 0;

	for (uint32 i = 0; i < grams->size; i++)
		total += grams->count[i];
	grams->probability = MemoryContextAllocHuge(CurrentMemoryContext,
												grams->size * sizeof(double));
	for (uint32 i = 0; i < grams->size; i++)
		grams->probability[i] = (double) (grams->count[i] / total);
}

/* public_receive: what public_send() sent, in the memory context that is current. */
PublicGrams *
public_receive(shm_mq_handle *queue)
{
	PublicGrams *grams = palloc0(sizeof(PublicGrams));
	PublicHead head;
	Size size;

	memcpy(&head, receive(queue, &size), sizeof(head));
	grams->size = head.size;
	grams->n = head.n;
	grams->escaped = head.escaped;
	grams->gram = MemoryContextAllocHuge(CurrentMemoryContext, head.size * sizeof(text *));
	grams->count = MemoryContextAllocHuge(CurrentMemoryContext, head.size * sizeof(int64));
	for (uint32 i = 0; i < head.size; i++)
	{
		const char *data = receive(queue, &size);

		memcpy(&grams->count[i], data, sizeof(int64));
		grams->gram[i] = cstring_to_text_with_len(data + sizeof(int64),
												  (int) (size - sizeof(int64)));
	}
	set_probabilities(grams);
	public_index(grams);
	return grams;
}
