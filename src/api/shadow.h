/*
 * shadow.h
 *	  Temporary objects that could stand in for the owner's.
 */
#ifndef DPNGRAM_SHADOW_H
#define DPNGRAM_SHADOW_H

extern void refuse_shadows(Oid relid, Oid owner);

#endif /* DPNGRAM_SHADOW_H */
