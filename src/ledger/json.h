/*
 * json.h
 *	  Flat JSON objects, built member by member, for the log.
 */
#ifndef DPNGRAM_JSON_H
#define DPNGRAM_JSON_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

extern void json_begin(StringInfo json);
extern void json_text(StringInfo json, const char *key, const char *value);
extern void json_number(StringInfo json, const char *key, double value);
extern void json_bool(StringInfo json, const char *key, bool value);
extern void json_raw(StringInfo json, const char *key, const char *value);
extern void json_sources(StringInfo json, const char *key, const List *sources);
extern char *json_end(StringInfo json);

#endif /* DPNGRAM_JSON_H */
