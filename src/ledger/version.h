/*
 * version.h
 *	  Whether the library, the ledger's tables and a charge's other session are of
 *	  one version.
 */
#ifndef DPNGRAM_VERSION_H
#define DPNGRAM_VERSION_H

#include "postgres.h"

#define VERSION_LENGTH 32

extern void version_refuse(void);
extern void version_check(void);
extern void version_stamp(char stamp[VERSION_LENGTH]);
extern void version_check_worker(void);

#endif /* DPNGRAM_VERSION_H */
