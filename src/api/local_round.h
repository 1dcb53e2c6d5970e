/*
 * local_round.h
 *	  What is published of a collection from clients: who is asked what, and how.
 */
#ifndef DPNGRAM_LOCAL_ROUND_JSON_H
#define DPNGRAM_LOCAL_ROUND_JSON_H

#include "fmgr.h"

#include "api/local_arguments.h"
#include "local/report.h"
#include "local/round.h"
#include "utils/jsonb.h"

/* A round as it is published; of all methods but privtrie's it is the only one. */
typedef struct PublishedRound
{
	LocalMethod method;
	LocalQuery query;
	double lifetime; /* rappor: epsilon of all reports of one term together; 0: of one */
	uint32 key;		 /* treehist: of its hashes; public */
	char *spec;		 /* the alphabet as written */
	Alphabet *alphabet;
	int number;				/* from 1 */
	Round asks;				/* privtrie: whom it asks about which nodes */
	JsonbContainer *unread; /* its nodes as they came, until round_read_nodes(); or NULL */
} PublishedRound;

extern PublishedRound *round_begin(const LocalArguments *arguments);
extern PublishedRound *round_parse(Jsonb *json);
extern void round_read_nodes(PublishedRound *round);
extern Jsonb *round_publish(const PublishedRound *round);

#endif /* DPNGRAM_LOCAL_ROUND_JSON_H */
