/*
 * phase_clock.h
 *	  A clock that gives every moment of a call to one phase.
 */
#ifndef PHASE_CLOCK_H
#define PHASE_CLOCK_H

#include "postgres.h"

/* Phases are entered within others; time counts for the innermost. */
extern void phase_enter(const char *name);
extern void phase_leave(void);

/* Level and round that the phases entered from here on belong to; 0: none. */
extern void phase_set_place(int level, int round);
extern int phase_level(void);
extern int phase_round(void);

/* That many tokens are looked at. */
extern void phase_see(int64 n);

/* Is that the innermost phase? */
extern bool phase_is(const char *name);

/* phase_memory.c */
extern void phase_memory_start(void);
extern void phase_memory_stop(void);

/*
 * The linker leads a call of NAME from another file here, __real_NAME() being the function
 * itself (see Makefile, which finds the names of these macros' first arguments).
 */
#define PHASE_VOID(function, phase, parameters, arguments) \
	extern void __real_##function parameters;              \
	extern void __wrap_##function parameters;              \
	void __wrap_##function parameters                      \
	{                                                      \
		phase_enter(phase);                                \
		__real_##function arguments;                       \
		phase_leave();                                     \
	}

#define PHASE_VALUE(function, type, phase, parameters, arguments) \
	extern type __real_##function parameters;                     \
	extern type __wrap_##function parameters;                     \
	type __wrap_##function parameters                             \
	{                                                             \
		type result;                                              \
                                                                  \
		phase_enter(phase);                                       \
		result = __real_##function arguments;                     \
		phase_leave();                                            \
		return result;                                            \
	}

#endif /* PHASE_CLOCK_H */
