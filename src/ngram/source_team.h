/*
 * source_team.h
 *	  Texts in this process and in parallel workers.
 */
#ifndef DPNGRAM_SOURCE_TEAM_H
#define DPNGRAM_SOURCE_TEAM_H

#include "ngram/read.h"
#include "ngram/team.h"

extern bool team_task(const ReadSpec *read, const CountSpec *spec, TeamTask *task);
extern TextSource *source_team_create(Team *team, const ReadSpec *read, const CountSpec *spec);

#endif /* DPNGRAM_SOURCE_TEAM_H */
