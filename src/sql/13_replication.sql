-- What logical replication may write (src/ledger/replica.c).
CREATE FUNCTION dpngram.bindings_stay() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dpngram_bindings_stay';
REVOKE EXECUTE ON FUNCTION dpngram.bindings_stay() FROM PUBLIC;
COMMENT ON FUNCTION dpngram.bindings_stay() IS 'leaves out what replication does to bindings';
CREATE FUNCTION dpngram.own_dataset_stays() RETURNS trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'dpngram_own_dataset_stays';
REVOKE EXECUTE ON FUNCTION dpngram.own_dataset_stays() FROM PUBLIC;
COMMENT ON FUNCTION dpngram.own_dataset_stays() IS 'refuses replication that changes a dataset of this server';

CREATE TRIGGER bindings_stay BEFORE INSERT OR UPDATE OR DELETE ON dpngram.relation_binding
	FOR EACH ROW EXECUTE FUNCTION dpngram.bindings_stay();
ALTER TABLE dpngram.relation_binding ENABLE REPLICA TRIGGER bindings_stay;
COMMENT ON TRIGGER bindings_stay ON dpngram.relation_binding IS 'bindings are not replicated';
CREATE TRIGGER bindings_stay BEFORE INSERT OR UPDATE OR DELETE ON dpngram.grantee_binding
	FOR EACH ROW EXECUTE FUNCTION dpngram.bindings_stay();
ALTER TABLE dpngram.grantee_binding ENABLE REPLICA TRIGGER bindings_stay;
COMMENT ON TRIGGER bindings_stay ON dpngram.grantee_binding IS 'bindings are not replicated';
CREATE TRIGGER own_dataset_stays BEFORE UPDATE OR DELETE ON dpngram.dataset
	FOR EACH ROW EXECUTE FUNCTION dpngram.own_dataset_stays();
ALTER TABLE dpngram.dataset ENABLE REPLICA TRIGGER own_dataset_stays;
COMMENT ON TRIGGER own_dataset_stays ON dpngram.dataset IS 'what this server can spend is not replicated';

