-- What holds of the rows now.

ALTER TABLE dpngram.relation_binding ALTER timeline SET NOT NULL;
ALTER TABLE dpngram.dataset ALTER min_epsilon SET NOT NULL;
ALTER TABLE dpngram.release
	ALTER rho SET NOT NULL,
	ALTER rho_delta SET NOT NULL,
	ALTER basic_epsilon SET NOT NULL,
	ALTER basic_delta SET NOT NULL,
	ALTER events SET NOT NULL,
	ALTER number SET NOT NULL,
	ALTER digest SET NOT NULL,
	ENABLE ALWAYS TRIGGER append_only;
DROP INDEX dpngram.release_dataset;
CREATE UNIQUE INDEX release_number ON dpngram.release (dataset, number);
CREATE INDEX release_period ON dpngram.release (dataset, period_to, period_from) WHERE period_to IS NOT NULL;

