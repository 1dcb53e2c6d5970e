/*
 * binding.h
 *	  Whether the relation that a dataset is bound to is still the one it was
 *	  made for.
 */
#ifndef DPNGRAM_BINDING_H
#define DPNGRAM_BINDING_H

#include "ledger/dataset.h"

extern const char *binding_defect(const DatasetRelation *relation);
extern const char *dataset_defect(const Dataset *dataset);
extern void binding_refuse(const Dataset *dataset, const char *defect);
extern void binding_check(const Dataset *dataset, const DatasetRelation *relation);
extern Binding binding_make(Oid relid, AttrNumber user_attnum, AttrNumber time_attnum);
extern void binding_insert(int32 relation_id, const Binding *binding);
extern void binding_note_children(const DatasetRelation *relation);

extern Oid relation_of(const DatasetRelation *relation);
extern Oid relation_owner(const Dataset *dataset, const DatasetRelation *relation);
extern bool dataset_owned_by(const Dataset *dataset, Oid role);
extern char *relation_text(const DatasetRelation *relation);
extern void dataset_refresh_names(const Dataset *dataset);

#endif /* DPNGRAM_BINDING_H */
