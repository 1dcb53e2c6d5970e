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
#include "utils/builtins.h"
#include "utils/memutils.h"

typedef struct PublicHead
{
	uint32 size;
	int n;
	bool escaped;
} PublicHead;

/*
 * public_send: all n-grams, as public_read() has left them.  If nobody takes them any more, it
 * just returns: why will be heard by who waits for the answer.
 */
void
public_send(const PublicGrams *grams, shm_mq_handle *queue)
{
	PublicHead head = {grams->size, grams->n, grams->escaped};

	if (shm_mq_send(queue, sizeof(head), &head, false, true) != SHM_MQ_SUCCESS)
		return;
	for (uint32 i = 0; i < grams->size; i++)
	{
		shm_mq_iovec part[2] = {{.data = (const char *) &grams->count[i], .len = sizeof(int64)},
								{.data = VARDATA_ANY(grams->gram[i]),
								 .len = VARSIZE_ANY_EXHDR(grams->gram[i])}};

		if (shm_mq_sendv(queue, part, 2, false, i == grams->size - 1) != SHM_MQ_SUCCESS)
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
