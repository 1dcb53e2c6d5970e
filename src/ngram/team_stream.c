/*
 * team_stream.c
 *	  What the leader and one worker say to each other: bytes, either way, in order.
 *
 * Two queues in shared memory, one each way, carry messages of up to 64 kB, large enough
 * for what a message costs not to matter.  Where one ends means nothing: a text of
 * any length is written as it is, and nobody need know beforehand how much will follow.
 * What was written is sent when a message is full, and by team_flush() before the
 * writer waits for an answer.
 *
 * Whoever waits can be cancelled; and where the other process is gone, both
 * reading and writing are errors.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "compat.h"
#include "ngram/team_stream.h"

void
team_stream_init(TeamStream *stream, shm_mq_handle *in, shm_mq_handle *out)
{
	memset(stream, 0, sizeof(*stream));
	stream->in = in;
	stream->out = out;
	stream->out_data = palloc(TEAM_MESSAGE);
}

/* An error of the other process, if it left one, or of this. */
static void
lost(TeamStream *stream)
{
	CHECK_FOR_INTERRUPTS();
	stream->lost = true;
	ereport(ERROR,
			(errcode(ERRCODE_CONNECTION_FAILURE),
			 errmsg("a process that takes part in the release is gone")));
}

/* Send what was written. */
void
team_flush(TeamStream *stream)
{
	CHECK_FOR_INTERRUPTS();
	if (stream->out_n > 0 &&
		shm_mq_send(stream->out, stream->out_n, stream->out_data, false, true) != SHM_MQ_SUCCESS)
		lost(stream);
	stream->out_n = 0;
}

/* Likewise where the message at hand has no room. */
void
team_write_more(TeamStream *stream, const void *data, Size n)
{
	const char *from = data;

	while (n > 0)
	{
		Size now = Min(n, TEAM_MESSAGE - stream->out_n);

		memcpy(stream->out_data + stream->out_n, from, now);
		stream->out_n += now;
		from += now;
		n -= now;
		if (stream->out_n == TEAM_MESSAGE)
			team_flush(stream);
	}
}

static void
next_message(TeamStream *stream)
{
	void *data;

	CHECK_FOR_INTERRUPTS();
	if (shm_mq_receive(stream->in, &stream->in_left, &data, false) != SHM_MQ_SUCCESS)
	{
		stream->in_left = 0;
		lost(stream);
	}
	stream->in_data = data;
}

/* Likewise where the message at hand has too little. */
void
team_read_more(TeamStream *stream, void *to, Size n)
{
	char *at = to;

	while (n > 0)
	{
		Size now;

		if (stream->in_left == 0)
			next_message(stream);
		now = Min(n, stream->in_left);
		memcpy(at, stream->in_data, now);
		at += now;
		n -= now;
		stream->in_data += now;
		stream->in_left -= now;
	}
}

/* The next n bytes, where they are, if they can be had in one piece; until the next call. */
const void *
team_read_piece(TeamStream *stream, Size n)
{
	if (n <= stream->in_left)
	{
		const char *piece = stream->in_data;

		stream->in_data += n;
		stream->in_left -= n;
		return piece;
	}
	if (n > stream->piece_size)
	{
		if (stream->piece != NULL)
			pfree(stream->piece);
		stream->piece_size = Max(n, TEAM_MESSAGE);
		stream->piece = MemoryContextAllocHuge(GetMemoryChunkContext(stream->out_data),
											   stream->piece_size);
	}
	team_read_more(stream, stream->piece, n);
	return stream->piece;
}

TeamType
team_type(Oid type)
{
	TeamType how;

	get_typlenbyval(type, &how.len, &how.by_value);
	return how;
}

/*
 * A value, not NULL.  What is stored out of line is fetched, since only this process has
 * the snapshot by which that is safe; to decompress it is left to the reader.
 */
void
team_write_datum(TeamStream *stream, Datum value, TeamType type)
{
	struct varlena *fetched;
	Size n;

	if (type.by_value)
	{
		team_write(stream, &value, sizeof(value));
		return;
	}
	if (type.len > 0)
	{
		team_write(stream, DatumGetPointer(value), type.len);
		return;
	}
	if (type.len == -2)
	{
		n = strlen(DatumGetCString(value)) + 1;
		team_write(stream, &n, sizeof(n));
		team_write(stream, DatumGetCString(value), n);
		return;
	}
	fetched = (struct varlena *) DatumGetPointer(value);
	if (VARATT_IS_EXTERNAL(fetched))
		fetched = detoast_external_attr(fetched);
	n = VARSIZE_ANY(fetched);
	team_write(stream, &n, sizeof(n));
	team_write(stream, fetched, n);
}

/* Allocated in the memory context that is current. */
Datum
team_read_datum(TeamStream *stream, TeamType type)
{
	Size n;
	void *value;

	if (type.by_value)
	{
		Datum datum;

		team_read(stream, &datum, sizeof(datum));
		return datum;
	}
	if (type.len > 0)
		n = type.len;
	else
		team_read(stream, &n, sizeof(n));
	value = palloc(n);
	team_read(stream, value, n);
	return PointerGetDatum(value);
}
