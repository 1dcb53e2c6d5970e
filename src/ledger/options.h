/*
 * options.h
 *	  Reads the argument "options" of a function, a JSON object of known keys.
 */
#ifndef DPNGRAM_OPTIONS_H
#define DPNGRAM_OPTIONS_H

#include "postgres.h"
#include "utils/jsonb.h"

typedef enum OptionKind
{
	OPTION_BOOL,   /* value: bool * */
	OPTION_NUMBER, /* value: double * */
	OPTION_TEXT,   /* value: char **, palloc'd */
	OPTION_EITHER  /* value: OptionEither * */
} OptionKind;

/* A value that may be a string or a number. */
typedef struct OptionEither
{
	char *text; /* NULL: it is the number */
	double number;
} OptionEither;

/* A known key, and where its value goes; what is not given is left as it is. */
typedef struct Option
{
	const char *name;
	OptionKind kind;
	void *value;
} Option;

extern void options_read(Jsonb *options, const Option *known, int nknown);

#endif /* DPNGRAM_OPTIONS_H */
