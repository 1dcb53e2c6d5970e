-- What is not used any more, now that the views are new.
DROP FUNCTION dpngram.binding_matches(bigint, oid, oid, integer, oid, oid);

