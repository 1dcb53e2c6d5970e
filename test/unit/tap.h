/*
 * tap.h
 *	  The two functions a test program in C needs to speak TAP.
 */
#ifndef TAP_H
#define TAP_H

#include "postgres_fe.h"

#include <stdarg.h>

static int tap_number = 0;
static int tap_failures = 0;

static void ok(bool passed, const char *format, ...) pg_attribute_printf(2, 3);

/* One test: whether it passed, and its name. */
static void
ok(bool passed, const char *format, ...)
{
	va_list arguments;

	tap_number++;
	if (!passed)
		tap_failures++;
	printf("%sok %d - ", passed ? "" : "not ", tap_number);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	fflush(stdout);
}

/* The plan, after the tests; the value is main()'s. */
static int
tap_done(void)
{
	printf("1..%d\n", tap_number);
	return tap_failures == 0 ? 0 : 1;
}

#endif /* TAP_H */
