-- What psql says of the objects that version 0.1.0 had already: \d+, \df+, \di+.
--
-- Their pieces are not run by the upgrade, or only in part, so their comments stand here,
-- where both scripts have them; newer objects have theirs beside them.  Those of functions
-- in the extension's schema are a line each, so that \df+ dp_* reads as a table of contents,
-- and begin the sections of doc/reference.md.

COMMENT ON SCHEMA dpngram IS 'the privacy ledger of extension dpngram';

COMMENT ON TABLE dpngram.dataset IS
	'one privacy budget: the sums of its releases in the lanes of every accounting, and the caps of its own';
COMMENT ON COLUMN dpngram.dataset.id IS 'number of the dataset';
COMMENT ON COLUMN dpngram.dataset.name IS 'the name by which the owner''s functions know it; unique among those that have not ended';
COMMENT ON COLUMN dpngram.dataset.owner IS 'role name of the relation''s owner when it was bound';
COMMENT ON COLUMN dpngram.dataset.epsilon IS 'the budget as it was given';
COMMENT ON COLUMN dpngram.dataset.delta IS 'the budget as it was given';
COMMENT ON COLUMN dpngram.dataset.accounting IS 'how releases add up: gdp, zcdp or basic';
COMMENT ON COLUMN dpngram.dataset.pure_share IS 'the part of epsilon that went to the lane of pure epsilon';
COMMENT ON COLUMN dpngram.dataset.delta_share IS 'the part of delta that went to the lane of additive delta';
COMMENT ON COLUMN dpngram.dataset.mu2_cap IS 'accounting gdp: bound of the sum of mu squared';
COMMENT ON COLUMN dpngram.dataset.eps_pure_cap IS 'accounting gdp: bound of the sum of pure epsilons';
COMMENT ON COLUMN dpngram.dataset.delta_add_cap IS 'accounting gdp: bound of the sum of additive deltas';
COMMENT ON COLUMN dpngram.dataset.mu2_spent IS 'the sum of mu squared of its releases';
COMMENT ON COLUMN dpngram.dataset.eps_pure_spent IS 'the sum of pure epsilons of its releases';
COMMENT ON COLUMN dpngram.dataset.delta_add_spent IS 'the sum of additive deltas of its releases';
COMMENT ON COLUMN dpngram.dataset.created IS 'when dp_protect made it';
COMMENT ON COLUMN dpngram.dataset.changed IS 'the owner''s last act; every owner''s function updates it';
COMMENT ON COLUMN dpngram.dataset.ended IS 'when dp_unprotect ended it; NULL: it is live';
COMMENT ON COLUMN dpngram.dataset.rho_cap IS 'accounting zcdp: bound of the sum of rho';
COMMENT ON COLUMN dpngram.dataset.rho_delta_cap IS 'accounting zcdp: bound of the sum of additive deltas';
COMMENT ON COLUMN dpngram.dataset.basic_epsilon_cap IS 'accounting basic: bound of the sum of epsilons';
COMMENT ON COLUMN dpngram.dataset.basic_delta_cap IS 'accounting basic: bound of the sum of deltas';
COMMENT ON COLUMN dpngram.dataset.rho_spent IS 'the sum of rho of its releases, by zCDP';
COMMENT ON COLUMN dpngram.dataset.rho_delta_spent IS 'the sum of additive deltas of its releases, by zCDP';
COMMENT ON COLUMN dpngram.dataset.basic_epsilon_spent IS 'the sum of the epsilons that its releases asked for';
COMMENT ON COLUMN dpngram.dataset.basic_delta_spent IS 'the sum of the deltas that its releases asked for';
COMMENT ON COLUMN dpngram.dataset.renews IS 'length of the periods that have a budget each; NULL: one budget for ever';
COMMENT ON COLUMN dpngram.dataset.renewal IS 'whether periods are those of the calendar, or a rolling window';
COMMENT ON COLUMN dpngram.dataset.time_zone IS 'in which months, days and weeks begin, where the budget renews';
COMMENT ON COLUMN dpngram.dataset.releases IS 'number of its rows in dpngram.release';
COMMENT ON COLUMN dpngram.dataset.chain IS 'digest of the last of them';
COMMENT ON COLUMN dpngram.dataset.public_user_count IS
	'the owner declared how many users its relations have to be public, as releases under local differential privacy need';
COMMENT ON COLUMN dpngram.dataset.min_epsilon IS 'the smallest epsilon that a call may ask for; 0: any';
COMMENT ON INDEX dpngram.dataset_live_name IS 'finds a live dataset by its name, of which there is one';
COMMENT ON CONSTRAINT dataset_caps_check ON dpngram.dataset IS 'all lanes of the dataset''s own accounting have caps';
COMMENT ON CONSTRAINT dataset_renews_check ON dpngram.dataset IS 'a budget renews with all that this needs, or not at all';
COMMENT ON SEQUENCE dpngram.dataset_id_seq IS 'numbers of datasets, also of ended ones';

COMMENT ON TABLE dpngram.relation IS 'the relations of a dataset, by name';
COMMENT ON COLUMN dpngram.relation.id IS 'number of the relation';
COMMENT ON COLUMN dpngram.relation.dataset IS 'number of the dataset whose budget it is under';
COMMENT ON COLUMN dpngram.relation.schema IS 'its schema''s name when the owner last acted';
COMMENT ON COLUMN dpngram.relation.name IS 'its name when the owner last acted';
COMMENT ON COLUMN dpngram.relation.user_col IS 'the privacy unit: the column that names the person';
COMMENT ON COLUMN dpngram.relation.columns IS 'columns that analysts may name as text; NULL: any';
COMMENT ON COLUMN dpngram.relation.time_col IS 'the column that tells a row''s period, where the budget renews';
COMMENT ON COLUMN dpngram.relation.attached IS 'when it came into the dataset';
COMMENT ON COLUMN dpngram.relation.detached IS 'when it was taken out of the dataset';
COMMENT ON COLUMN dpngram.relation.detached_after IS 'number of the dataset''s last release until then';
COMMENT ON INDEX dpngram.relation_dataset IS 'finds the relations of a dataset';
COMMENT ON CONSTRAINT relation_detached_check ON dpngram.relation IS 'what was taken out is known to have been after a release';
COMMENT ON SEQUENCE dpngram.relation_id_seq IS 'numbers of the relations of datasets';

COMMENT ON TABLE dpngram.relation_binding IS 'the very relation meant by a row of dpngram.relation; never dumped';
COMMENT ON COLUMN dpngram.relation_binding.relation IS 'number of the relation in dpngram.relation';
COMMENT ON COLUMN dpngram.relation_binding.system_identifier IS 'of the cluster where it was bound';
COMMENT ON COLUMN dpngram.relation_binding.database IS 'OID of the database where it was bound';
COMMENT ON COLUMN dpngram.relation_binding.relid IS 'OID of the relation';
COMMENT ON COLUMN dpngram.relation_binding.user_attnum IS 'number of the column that names the person';
COMMENT ON COLUMN dpngram.relation_binding.user_type IS 'OID of that column''s type';
COMMENT ON COLUMN dpngram.relation_binding.owner IS 'OID of the relation''s owner';
COMMENT ON COLUMN dpngram.relation_binding.timeline IS 'of the server where it was bound: a promoted or recovered one is on another';
COMMENT ON COLUMN dpngram.relation_binding.time_attnum IS 'number of the column that tells a row''s period; 0: none';
COMMENT ON COLUMN dpngram.relation_binding.time_type IS 'OID of that column''s type; 0: none';
COMMENT ON COLUMN dpngram.relation_binding.children IS 'partitions and children that it had when it was read';
COMMENT ON COLUMN dpngram.relation_binding.children_until IS
	'number of the dataset''s release by which each of them was gone; 0: still there';
COMMENT ON INDEX dpngram.relation_binding_relid IS 'finds the dataset of a relation';

COMMENT ON TABLE dpngram.grantee IS 'who may spend a dataset, with what the role has spent and its own caps, if any';
COMMENT ON COLUMN dpngram.grantee.id IS 'number of the grant';
COMMENT ON COLUMN dpngram.grantee.dataset IS 'number of the dataset';
COMMENT ON COLUMN dpngram.grantee.role IS 'the role''s name when the owner last acted';
COMMENT ON COLUMN dpngram.grantee.epsilon IS 'the role''s own cap as it was given; NULL: none but the dataset''s';
COMMENT ON COLUMN dpngram.grantee.delta IS 'the role''s own cap as it was given; NULL: none but the dataset''s';
COMMENT ON COLUMN dpngram.grantee.mu2_cap IS 'accounting gdp: the role''s bound of the sum of mu squared';
COMMENT ON COLUMN dpngram.grantee.eps_pure_cap IS 'accounting gdp: the role''s bound of the sum of pure epsilons';
COMMENT ON COLUMN dpngram.grantee.delta_add_cap IS 'accounting gdp: the role''s bound of the sum of additive deltas';
COMMENT ON COLUMN dpngram.grantee.mu2_spent IS 'the sum of mu squared of releases by this grant';
COMMENT ON COLUMN dpngram.grantee.eps_pure_spent IS 'the sum of pure epsilons of releases by this grant';
COMMENT ON COLUMN dpngram.grantee.delta_add_spent IS 'the sum of additive deltas of releases by this grant';
COMMENT ON COLUMN dpngram.grantee.granted IS 'when the role was last granted the dataset';
COMMENT ON COLUMN dpngram.grantee.revoked IS 'when the grant was taken away; NULL: it is live';
COMMENT ON COLUMN dpngram.grantee.rho_cap IS 'accounting zcdp: the role''s bound of the sum of rho';
COMMENT ON COLUMN dpngram.grantee.rho_delta_cap IS 'accounting zcdp: the role''s bound of the sum of additive deltas';
COMMENT ON COLUMN dpngram.grantee.basic_epsilon_cap IS 'accounting basic: the role''s bound of the sum of epsilons';
COMMENT ON COLUMN dpngram.grantee.basic_delta_cap IS 'accounting basic: the role''s bound of the sum of deltas';
COMMENT ON COLUMN dpngram.grantee.rho_spent IS 'the sum of rho of releases by this grant, by zCDP';
COMMENT ON COLUMN dpngram.grantee.rho_delta_spent IS 'the sum of additive deltas of releases by this grant, by zCDP';
COMMENT ON COLUMN dpngram.grantee.basic_epsilon_spent IS 'the sum of the epsilons that releases by this grant asked for';
COMMENT ON COLUMN dpngram.grantee.basic_delta_spent IS 'the sum of the deltas that releases by this grant asked for';
COMMENT ON INDEX dpngram.grantee_dataset IS 'finds the grants of a dataset';
COMMENT ON SEQUENCE dpngram.grantee_id_seq IS 'numbers of grants, also of revoked ones';

COMMENT ON TABLE dpngram.grantee_binding IS 'the very role meant by a row of dpngram.grantee; never dumped';
COMMENT ON COLUMN dpngram.grantee_binding.grantee IS 'number of the grant in dpngram.grantee';
COMMENT ON COLUMN dpngram.grantee_binding.role IS 'OID of the role';

COMMENT ON TABLE dpngram.release IS
	'every charge and every act of an owner; rows are only ever added, and the amounts of a dataset''s rows add up to what it has spent';
COMMENT ON COLUMN dpngram.release.id IS 'number of the release, which the server log names too';
COMMENT ON COLUMN dpngram.release.at IS 'when it was charged';
COMMENT ON COLUMN dpngram.release.dataset IS 'number of the dataset that was debited';
COMMENT ON COLUMN dpngram.release.relation IS 'the relation that was read, by its name at the time';
COMMENT ON COLUMN dpngram.release.session_role IS 'session_user of the caller';
COMMENT ON COLUMN dpngram.release.caller_role IS 'current_user of the caller';
COMMENT ON COLUMN dpngram.release.grantee IS 'the grant that was used; NULL: by right of ownership';
COMMENT ON COLUMN dpngram.release.mechanism IS 'the function that was called, an owner''s as well';
COMMENT ON COLUMN dpngram.release.parameters IS 'its arguments';
COMMENT ON COLUMN dpngram.release.epsilon IS 'as asked for; NULL for an owner''s act';
COMMENT ON COLUMN dpngram.release.delta IS 'as asked for; NULL for an owner''s act';
COMMENT ON COLUMN dpngram.release.mu2 IS 'price in mu squared';
COMMENT ON COLUMN dpngram.release.eps_pure IS 'price in pure epsilon';
COMMENT ON COLUMN dpngram.release.delta_add IS 'price in additive delta';
COMMENT ON COLUMN dpngram.release.seeded IS 'the noise was predictable (dpngram.test_seed)';
COMMENT ON COLUMN dpngram.release.timeline IS 'of the server at the charge: tells a restored ledger from its original';
COMMENT ON COLUMN dpngram.release.lsn IS 'position in the write-ahead log at the charge';
COMMENT ON COLUMN dpngram.release.rho IS 'price in rho, by zCDP';
COMMENT ON COLUMN dpngram.release.rho_delta IS 'price in additive delta, by zCDP';
COMMENT ON COLUMN dpngram.release.basic_epsilon IS 'price in epsilon, by plain sums';
COMMENT ON COLUMN dpngram.release.basic_delta IS 'price in delta, by plain sums';
COMMENT ON COLUMN dpngram.release.events IS 'what the mechanism did, by which any accounting can price it';
COMMENT ON COLUMN dpngram.release.period_from IS 'the rows it read are not older, where the budget renews';
COMMENT ON COLUMN dpngram.release.period_to IS 'the rows it read are older than this, where the budget renews';
COMMENT ON COLUMN dpngram.release.number IS 'its place among the dataset''s releases, from 1';
COMMENT ON COLUMN dpngram.release.digest IS 'SHA-256 of the previous release''s digest and this row';
COMMENT ON INDEX dpngram.release_number IS 'finds a dataset''s releases in their order';
COMMENT ON INDEX dpngram.release_period IS 'finds the releases that read rows of a period';
COMMENT ON SEQUENCE dpngram.release_id_seq IS 'numbers of releases; a charge that failed leaves a gap';
COMMENT ON TRIGGER append_only ON dpngram.release IS 'releases are never changed';

COMMENT ON TABLE dpngram.carried IS 'whose spending a dataset carries: former datasets of its relations';
COMMENT ON COLUMN dpngram.carried.dataset IS 'number of the dataset that carries it';
COMMENT ON COLUMN dpngram.carried.source IS 'number of the former dataset';
COMMENT ON COLUMN dpngram.carried.forgotten IS 'it began without that spending, by a superuser''s word';
COMMENT ON COLUMN dpngram.carried.by_period IS
	'the source''s calls count each in its own period; else their sum was debited';
COMMENT ON COLUMN dpngram.carried.releases IS 'the source''s releases after this number are not counted';

COMMENT ON TABLE dpngram.release_end IS 'how a release ended, as far as that is known; rows are only ever added';
COMMENT ON COLUMN dpngram.release_end.release IS 'number of the release';
COMMENT ON COLUMN dpngram.release_end.status IS 'done or failed; the price stands in any case';
COMMENT ON COLUMN dpngram.release_end.at IS 'when it ended';
COMMENT ON COLUMN dpngram.release_end.used IS 'what it made of its price; never a refund';
COMMENT ON TRIGGER append_only ON dpngram.release_end IS 'the end of a release is never changed';

COMMENT ON FUNCTION dpngram.append_only() IS 'refuses UPDATE, DELETE and TRUNCATE';

-- The functions, owners' first.

COMMENT ON FUNCTION @extschema@.dp_protect(regclass, name, float8, float8, name, text, float8, float8, name[], jsonb) IS
	'puts a relation under a privacy budget';
COMMENT ON FUNCTION @extschema@.dp_unprotect(name) IS 'ends a privacy budget; its releases stay in the log';
COMMENT ON FUNCTION @extschema@.dp_grant(name, name, float8, float8) IS
	'lets a role spend a privacy budget, up to a cap of its own if given';
COMMENT ON FUNCTION @extschema@.dp_revoke(name, name) IS 'takes a role''s grant of a privacy budget away';
COMMENT ON FUNCTION @extschema@.dp_resume(name) IS 'takes up a suspended privacy budget again, after a restore or a copy';

COMMENT ON FUNCTION @extschema@.dp_ngrams(regclass, name, name, float8, float8, int, text, int, int[], float8, text,
	float8, int, text, int, float8, jsonb) IS
	'n-grams that many users share in a protected text column; debits the budget';
COMMENT ON FUNCTION @extschema@.dp_set_union(regclass, name, name, float8, float8, int, text, jsonb) IS
	'values that many users share in a protected column; debits the budget';
