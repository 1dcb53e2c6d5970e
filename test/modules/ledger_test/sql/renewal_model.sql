-- Random calls, budgets and successions of datasets against a model of a few lines: a
-- call counts in a period if it read one that shares a moment with it by the same
-- column of time, or by none or another.
CREATE ROLE regress_mo_ana;
CREATE TABLE model (who int, at timestamptz, other timestamptz);
CREATE TABLE model_calls (by_role text, col text, reads tstzrange, amount numeric, dataset int, forgotten boolean DEFAULT false);
CREATE TABLE model_steps (step int, what text, accepted boolean, expected boolean);
GRANT ALL ON model_calls, model_steps TO regress_mo_ana;
SET client_min_messages = warning;
SELECT setseed(0.25);
DO $$
DECLARE
	n int := 0;			-- number of the dataset
	the_col text;		-- its column of time, and how long its periods are; NULL: none
	every interval;
	cap numeric;
	ana_cap numeric := 3;
	ana boolean;
	price numeric;
	now_reads tstzrange;
	counted numeric;
	own numeric;
	accepted boolean;
	keep boolean;		-- what former datasets spent
	moment timestamptz;
BEGIN
	SET timezone = 'UTC';
	FOR step IN 1..700 LOOP
		IF step = 1 OR random() < 0.04 THEN
			IF n > 0 THEN
				PERFORM dp_unprotect('m');
			END IF;
			n := n + 1;
			keep := random() < 0.9;
			UPDATE model_calls c SET forgotten = true WHERE NOT keep;
			cap := 8 + floor(random() * 40 + random() * (SELECT coalesce(sum(c.amount), 0) FROM model_calls c WHERE NOT c.forgotten)) / 2;
			every := (ARRAY['1 day', '1 day', '3 days', '1 week', '1 month', '6 hours', NULL])[1 + floor(random() * 7)::int];
			the_col := CASE WHEN every IS NULL THEN NULL WHEN random() < 0.6 THEN 'at' ELSE 'other' END;
			PERFORM dp_protect('model', 'who', cap::float8, 0, dataset => 'm', options => CASE WHEN every IS NULL THEN '{}'::jsonb
				ELSE jsonb_build_object('renews', every::text, 'time_col', the_col) END || jsonb_build_object('carry_forward', keep));
			PERFORM dp_grant('m', 'regress_mo_ana', ana_cap::float8);
		ELSIF random() < 0.03 THEN
			cap := cap + 4;
			PERFORM dp_set_budget('m', cap::float8, 0);
		END IF;
		COMMIT;

		ana := random() < 0.4;
		price := (1 + floor(random() * 6)) / 4;
		moment := timestamptz '2020-01-01' + floor(random() * 14) * interval '1 day' + random() * interval '1 day';
		now_reads := CASE every WHEN '1 month' THEN tstzrange(date_trunc('month', moment), date_trunc('month', moment) + '1 month')
			WHEN '1 week' THEN tstzrange(date_trunc('week', moment), date_trunc('week', moment) + '1 week')
			ELSE tstzrange(date_bin(every, moment, timestamptz '2001-01-01'), date_bin(every, moment, timestamptz '2001-01-01') + every) END;
		IF every IS NULL THEN
			now_reads := NULL;
		END IF;
		SELECT coalesce(sum(c.amount), 0) INTO counted FROM model_calls c
		 WHERE NOT coalesce(c.col = the_col AND NOT c.reads && now_reads, false) AND NOT c.forgotten;
		SELECT coalesce(sum(c.amount), 0) INTO own FROM model_calls c
		 WHERE c.dataset = n AND c.by_role = 'regress_mo_ana' AND coalesce(c.reads && now_reads, true);
		IF ana THEN
			SET LOCAL ROLE regress_mo_ana;
		END IF;
		BEGIN
			PERFORM CASE WHEN every IS NULL THEN ledger_charge('model', ARRAY[0, price::float8, 0])
				ELSE ledger_charge_in('model', ARRAY[0, price::float8, 0], moment::text) END;
			accepted := true;
		EXCEPTION WHEN SQLSTATE 'NG001' THEN
			accepted := false;
		END;
		RESET ROLE;
		INSERT INTO model_steps VALUES (step, format('%s: %s by %s in %s, periods %s by %s, cap %s', n, price, CASE WHEN ana THEN 'ana' ELSE 'owner' END, now_reads, every, the_col, cap),
			accepted, counted + price <= cap AND (NOT ana OR own + price <= ana_cap));
		IF accepted THEN
			INSERT INTO model_calls VALUES (CASE WHEN ana THEN 'regress_mo_ana' END, the_col, now_reads, price, n);
		END IF;
		COMMIT;
	END LOOP;
END $$;
RESET client_min_messages;
-- what differs from the model: nothing, of enough
SELECT * FROM model_steps WHERE accepted <> expected ORDER BY step;
SELECT count(*) FILTER (WHERE accepted) > 50 AS many_accepted, count(*) FILTER (WHERE NOT accepted) > 50 AS many_refused FROM model_steps;
SELECT count(DISTINCT dataset) > 8 AS many_datasets, count(DISTINCT col) AS columns, count(DISTINCT upper(reads) - lower(reads)) > 2 AS lengths FROM model_calls;
SELECT sum(c.amount) = (SELECT sum(r.eps_pure) FROM dpngram.release r JOIN dpngram.dataset d ON d.id = r.dataset
	WHERE d.name = 'm' AND r.epsilon IS NOT NULL) AS all_in_the_log FROM model_calls c;

SELECT dp_unprotect('m');
SET client_min_messages = warning;
DROP TABLE model, model_calls, model_steps;
DROP ROLE regress_mo_ana;
