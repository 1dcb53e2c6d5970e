/*
 * memory.h
 *	  Arrays as long as there are users, in the server and in plain programs.
 */
#ifndef DPNGRAM_LOCAL_MEMORY_H
#define DPNGRAM_LOCAL_MEMORY_H

#include "common/dp_base.h"

#ifdef FRONTEND
#define local_alloc_huge(size) palloc(size)
#define local_realloc_huge(pointer, size) repalloc(pointer, size)
#ifndef CHECK_FOR_INTERRUPTS
#define CHECK_FOR_INTERRUPTS() ((void) 0)
#endif
#else
#include "miscadmin.h"
#include "utils/memutils.h"
#define local_alloc_huge(size) MemoryContextAllocHuge(CurrentMemoryContext, size)
#define local_realloc_huge(pointer, size) repalloc_huge(pointer, size)
#endif

#endif /* DPNGRAM_LOCAL_MEMORY_H */
