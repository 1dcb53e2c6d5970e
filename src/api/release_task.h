/*
 * release_task.h
 *	  What the caller's session sends its worker, and what the worker sends back.
 */
#ifndef DPNGRAM_RELEASE_TASK_H
#define DPNGRAM_RELEASE_TASK_H

#include "postgres.h"

#include "access/attnum.h"

/* Columns of the widest result. */
#define RELEASE_MAX_COLUMNS 8

/*
 * What the worker takes of the caller's settings: numbers that say how much memory and how
 * many processes a call may have.  No other setting of the caller's reaches the read.
 */
typedef struct CallSettings
{
	int work_mem;
	double hash_mem_multiplier;
	int max_parallel_workers;
	int min_parallel_table_scan_size;
	int dpngram_max_parallel_workers;
	int charge_timeout;
	int lock_timeout;
	int test_seed;
	bool progress;
} CallSettings;

/* No pointers; the tokenizer's name and the plan follow. */
typedef struct ReleaseTask
{
	char method[NAMEDATALEN];
	CallSettings settings;

	int ncolumns; /* of the result */
	Oid column_type[RELEASE_MAX_COLUMNS];

	AttrNumber user_attnum;
	AttrNumber text_attnum;
	Oid text_type;
	char user_col[NAMEDATALEN];
	char text_col[NAMEDATALEN];
	Oid tokenizer_object; /* of text search, as the caller's search_path found it */
	int max_tokens;

	Size plan; /* where it begins */
	char tokenizer[FLEXIBLE_ARRAY_MEMBER];
} ReleaseTask;

/* The first byte of a message to the caller, once the call is charged. */
typedef enum ReleaseMessage
{
	MESSAGE_PROGRESS = 'P', /* a string */
	MESSAGE_ROW = 'R',		/* a minimal tuple, at an aligned place */
	MESSAGE_DONE = 'D',
	MESSAGE_ERROR = 'E', /* one that may be told: SQLSTATE, message and hint, as strings */
	MESSAGE_FAILED = 'F' /* no more is told */
} ReleaseMessage;

#endif /* DPNGRAM_RELEASE_TASK_H */
