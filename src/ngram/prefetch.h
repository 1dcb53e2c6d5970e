/*
 * prefetch.h
 *	  Asking for memory before it is needed.
 *
 * To be used in the loop itself: GCC 12 takes an inline function that does nothing else for
 * one that does nothing at all.
 */
#ifndef DPNGRAM_PREFETCH_H
#define DPNGRAM_PREFETCH_H

/* Loops ask for what they will touch so many steps later. */
#define PREFETCH_DISTANCE 8

#if defined(__GNUC__)
#define dp_prefetch(address) __builtin_prefetch(address)
#else
#define dp_prefetch(address) ((void) (address))
#endif

#endif /* DPNGRAM_PREFETCH_H */
