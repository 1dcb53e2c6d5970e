/*
 * team_stream.h
 *	  What the leader and one worker say to each other: bytes, either way, in order.
 */
#ifndef DPNGRAM_TEAM_STREAM_H
#define DPNGRAM_TEAM_STREAM_H

#include "postgres.h"

#include "storage/shm_mq.h"

/* One end of it. */
typedef struct TeamStream
{
	shm_mq_handle *in;
	shm_mq_handle *out;
	bool lost; /* the other process is gone */

	char *out_data; /* not sent yet */
	Size out_n;
	const char *in_data; /* of the message that came last, not read yet */
	Size in_left;
	char *piece; /* for what lies in two messages */
	Size piece_size;
} TeamStream;

/* How the values of a type are passed on. */
typedef struct TeamType
{
	int16 len;
	bool by_value;
} TeamType;

extern TeamType team_type(Oid type);
extern void team_stream_init(TeamStream *stream, shm_mq_handle *in, shm_mq_handle *out);
extern void team_flush(TeamStream *stream);
extern void team_write_more(TeamStream *stream, const void *data, Size n);
extern void team_read_more(TeamStream *stream, void *to, Size n);
extern const void *team_read_piece(TeamStream *stream, Size n);
extern void team_write_datum(TeamStream *stream, Datum value, TeamType type);
extern Datum team_read_datum(TeamStream *stream, TeamType type);

#define TEAM_MESSAGE ((Size) 64 * 1024)

static inline void
team_write(TeamStream *stream, const void *data, Size n)
{
	if (unlikely(n > TEAM_MESSAGE - stream->out_n))
	{
		team_write_more(stream, data, n);
		return;
	}
	memcpy(stream->out_data + stream->out_n, data, n);
	stream->out_n += n;
}

static inline void
team_read(TeamStream *stream, void *to, Size n)
{
	if (unlikely(n > stream->in_left))
	{
		team_read_more(stream, to, n);
		return;
	}
	memcpy(to, stream->in_data, n);
	stream->in_data += n;
	stream->in_left -= n;
}

#endif /* DPNGRAM_TEAM_STREAM_H */
