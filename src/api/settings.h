/*
 * settings.h
 *	  The settings of the SQL face.
 */
#ifndef DPNGRAM_SETTINGS_H
#define DPNGRAM_SETTINGS_H

/* 0: real noise; else a seed that makes it predictable (superuser, tests) */
extern int dpngram_test_seed;

/* of one release of n-grams; 0: it is made by its session alone */
extern int dpngram_max_parallel_workers;

/* NOTICEs as a release goes on */
extern bool dpngram_progress;

#endif /* DPNGRAM_SETTINGS_H */
