/*
 * replica.h
 *	  Whether logical replication writes the ledger of this database.
 */
#ifndef DPNGRAM_REPLICA_H
#define DPNGRAM_REPLICA_H

extern void refuse_subscribed(void);

#endif /* DPNGRAM_REPLICA_H */
