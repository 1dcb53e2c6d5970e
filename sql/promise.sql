-- What the promise hangs on at its edges: caps of extreme budgets, epsilons read off a
-- history, and what a dataset counts when its relations come and go.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS dpngram;
CREATE SCHEMA promise;
CREATE TABLE promise.t (who int, what text);
CREATE FUNCTION fresh(accounting text, epsilon float8, delta float8, pure_share float8 DEFAULT 0.001, delta_share float8 DEFAULT 0.25,
	forget bool DEFAULT true) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM dp_unprotect('promise') FROM dpngram.budget WHERE dataset = 'promise' AND grantee IS NULL;
	PERFORM dp_protect('promise.t', 'who', epsilon, delta, dataset => 'promise', accounting => accounting, pure_share => pure_share,
		delta_share => delta_share, options => jsonb_build_object('carry_forward', NOT forget, 'min_epsilon', 0));
END $$;

-- Caps are on the promise's side where delta is no normal double, too.  The bounds are the largest
-- mu2 that keeps the promise beside the pure lane's cap, by mpmath at 60 digits.
CREATE TABLE promise.extreme (epsilon float8, delta float8, pure_share float8, delta_share float8, bound numeric, mu2 numeric);
INSERT INTO promise.extreme VALUES
	(28.169453899000317, 1e-320, 0.25, 0.07155138822789708, 0.299339610559806558678),
	(20.667013460518028, 1e-310, 0.5, 0.00019900012579963654, 0.0741744738433418293812),
	(8, 1e-318, 0.001, 0.25, 0.0439614109652032979238);
DO $$
DECLARE
	e record;
BEGIN
	FOR e IN SELECT * FROM promise.extreme LOOP
		PERFORM fresh('gdp', e.epsilon, e.delta, e.pure_share, e.delta_share);
		UPDATE promise.extreme SET mu2 = d.mu2_cap FROM dpngram.dataset d
		WHERE d.name = 'promise' AND d.ended IS NULL AND extreme.epsilon = e.epsilon;
	END LOOP;
END $$;
SELECT epsilon, mu2 <= bound AS kept, mu2 > bound * 0.999 AS near FROM promise.extreme;
-- where there is none
SELECT fresh('gdp', 8, 5e-324);
SELECT fresh('zcdp', 8, 5e-324);
SELECT accounting, rho_cap BETWEEN 0.02 AND 0.03 AS rho FROM dpngram.dataset WHERE name = 'promise' AND ended IS NULL;

-- An epsilon read off a history is no less than it is, where next to nothing of delta is left either.
-- The exact ones are by mpmath at 60 digits.
SELECT dpngram.lanes_epsilon(mu2, 0, delta_add, 1e-6) BETWEEN epsilon AND epsilon * (1 + 1e-6) AS gdp FROM (VALUES
	(1.0, 9.999999998835846329211765483149843357040960970164955416705776514163517276756465435028076171875e-7, 8.433344924953688::float8),
	(0.25, 9.9999999999636197594101963007599388720349667839339992403413504007403389550745487213134765625e-7, 4.261354960534481)) v (mu2, delta_add, epsilon);
-- what is nothing, and what is no amount
SELECT dpngram.lanes_epsilon(0, 0, 0.25, 0.25), dpngram.lanes_epsilon(0, 0.1, 0, 0), dpngram.lanes_epsilon(0, 0.1, 1e-6, 1e-7) AS over,
	dpngram.lanes_epsilon(1, 0, 0.25, 0.25) AS no_delta, dpngram.lanes_epsilon('NaN', 0, 0, 1e-6) AS nan, dpngram.lanes_epsilon(1, 'Infinity', 0, 1e-6) AS infinite,
	dpngram.lanes_epsilon(1e-40, 0, 0, 1e-6) AS off_the_grid;
SELECT dpngram.zcdp_epsilon(0, 0.25, 0.25), dpngram.zcdp_epsilon(0, 1e-6, 1e-7) AS over, dpngram.zcdp_epsilon(1, 0.25, 0.25) AS no_delta,
	dpngram.zcdp_epsilon('Infinity', 0, 1e-6) AS infinite, dpngram.zcdp_epsilon(1, 0, 'NaN') AS nan;

-- What was overdrawn has nothing left, whichever lane it was, in each accounting.
CREATE TABLE promise.left (accounting text, epsilon float8, delta float8, remaining_epsilon float8, spent_epsilon text);
DO $$
DECLARE
	c record;
BEGIN
	FOR c IN SELECT a, d FROM unnest('{gdp,zcdp,basic}'::text[]) a, unnest('{1e-7,1e-2}'::float8[]) d LOOP
		PERFORM fresh('basic', 8, 1e-2);
		COMMIT;
		PERFORM FROM dp_set_union('promise.t', 'who', 'what', 1, 1e-3);
		PERFORM fresh(c.a, CASE WHEN c.d < 1e-3 THEN 8 ELSE 0.01 END, c.d, forget => false);
		INSERT INTO promise.left SELECT c.a, epsilon, delta, b.remaining_epsilon, round(b.spent_epsilon::numeric, 3)
		FROM dpngram.budget b WHERE dataset = 'promise';
	END LOOP;
END $$;
TABLE promise.left;

-- A history without releases has no events.
SELECT fresh('gdp', 8, 1e-6);
SELECT dp_export_events('promise')->'events' AS events;

-- Relations come and go.  With one come the calls of all datasets that it was in, and of those whose
-- calls had come to them, each once, as far as they have got now.  Four relations wander between
-- three names for 200 steps; the model knows sets of calls, told by their epsilons, powers of 2.
SELECT dp_unprotect('promise');
CREATE TABLE promise.home (relation text, dataset text);
CREATE TABLE promise.former (relation text, life int);
CREATE TABLE promise.life (name text, id int GENERATED ALWAYS AS IDENTITY, ended bool DEFAULT false);
CREATE TABLE promise.carries (life int, source int, UNIQUE (life, source));
CREATE TABLE promise.knows (life int, call int, own bool, UNIQUE (life, call));
CREATE TABLE promise.seen (step int, life int, counted numeric, model numeric);
INSERT INTO promise.home SELECT 'promise.r' || i FROM generate_series(1, 4) i;
SELECT format('CREATE TABLE promise.r%s (who int, what text)', i) FROM generate_series(1, 4) i \gexec
SELECT setseed(0.25);
CREATE FUNCTION life(of text) RETURNS int LANGUAGE sql AS 'SELECT id FROM promise.life WHERE name = of AND NOT ended';
CREATE FUNCTION come(relation text, to_life int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO promise.carries
	WITH RECURSIVE met (life) AS (
		SELECT f.life FROM promise.former f WHERE f.relation = come.relation AND f.life <> to_life
		UNION SELECT c.source FROM met JOIN promise.carries c USING (life))
	SELECT to_life, life FROM met WHERE life <> to_life ON CONFLICT DO NOTHING;
	INSERT INTO promise.knows
	WITH RECURSIVE met (life) AS (
		SELECT f.life FROM promise.former f WHERE f.relation = come.relation AND f.life <> to_life
		UNION SELECT c.source FROM met JOIN promise.carries c USING (life))
	SELECT to_life, k.call, false FROM met JOIN promise.knows k USING (life) WHERE k.own AND life <> to_life ON CONFLICT DO NOTHING;
	INSERT INTO promise.former VALUES (relation, to_life);
	UPDATE promise.home h SET dataset = (SELECT name FROM promise.life WHERE id = to_life) WHERE h.relation = come.relation $$;
DO $$
DECLARE
	r record;
	d text;
	call int := 0;
BEGIN
	FOR step IN 1 .. 200 LOOP
		SELECT * INTO r FROM promise.home ORDER BY random() LIMIT 1;
		d := (ARRAY['p', 'q', 's'])[1 + floor(random() * 3)];
		IF r.dataset IS NOT NULL AND random() < 0.4 AND call < 54 THEN
			call := call + 1;
			PERFORM FROM dp_set_union(r.relation, 'who', 'what', 2.0::float8 ^ (call - 34), 1e-3);
			INSERT INTO promise.knows VALUES (life(r.dataset), call, true);
		ELSIF r.dataset IS NOT NULL THEN
			IF (SELECT count(*) FROM promise.home h WHERE h.dataset = r.dataset) = 1 THEN
				PERFORM dp_unprotect(r.dataset::name);
				UPDATE promise.life SET ended = true WHERE id = life(r.dataset);
			ELSE
				PERFORM dp_detach(r.dataset::name, r.relation);
			END IF;
			UPDATE promise.home SET dataset = NULL WHERE relation = r.relation;
		ELSIF life(d) IS NULL THEN
			PERFORM dp_protect(r.relation, 'who', 1e9, 0.5, dataset => d::name, accounting => 'basic', options => '{"min_epsilon": 0}');
			INSERT INTO promise.life (name) VALUES (d);
			PERFORM come(r.relation, life(d));
		ELSE
			PERFORM dp_attach(d::name, r.relation, 'who');
			PERFORM come(r.relation, life(d));
		END IF;
		COMMIT;
		INSERT INTO promise.seen SELECT step, l.id, (SELECT s.basic_epsilon_spent * (1::bigint << 34) FROM dpngram.dataset s WHERE s.name = l.name AND s.ended IS NULL),
			(SELECT coalesce(sum(1::bigint << k.call), 0) FROM promise.knows k WHERE k.life = l.id)
		FROM promise.life l WHERE NOT l.ended;
	END LOOP;
END $$;
SELECT max(step) AS steps, count(DISTINCT life) > 3 AS lives, max(model) > 0 AS calls FROM promise.seen;
SELECT * FROM promise.seen WHERE counted IS DISTINCT FROM model ORDER BY step LIMIT 5;
SELECT count(dp_unprotect(name::name)) > 0 AS ended FROM promise.life WHERE NOT ended;
-- A partition goes to and fro between tables of two datasets, which live on: what either answers about it
-- counts in the other once it is back, and what it answers without it does not suspend the other.
CREATE TABLE promise.t1 (who int, what text) PARTITION BY LIST (who);
CREATE TABLE promise.t2 (who int, what text) PARTITION BY LIST (who);
CREATE TABLE promise.part (who int, what text);
CREATE TABLE promise.other (who int, what text);
CREATE VIEW promise.spent AS SELECT string_agg(name || ' ' || trim_scale(basic_epsilon_spent), ', ' ORDER BY name) AS spent
FROM dpngram.dataset WHERE ended IS NULL AND name IN ('d1', 'd2', 'd3');
CREATE FUNCTION spend(relation text, epsilon float8) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT FROM dp_set_union(%L, ''who'', ''what'', %L, 1e-6)', relation, epsilon);
	RETURN 'fine';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT dp_protect('promise.t1', 'who', 1000, 0.1, 'd1', 'basic', options => '{"min_epsilon": 0}'), dp_protect('promise.t2', 'who', 1000, 0.1, 'd2', 'basic', options => '{"min_epsilon": 0}'),
	dp_protect('promise.other', 'who', 1000, 0.1, 'd3', 'basic', options => '{"min_epsilon": 0}');
ALTER TABLE promise.t1 ATTACH PARTITION promise.part FOR VALUES IN (1);
SELECT spend('promise.t1', 1);
ALTER TABLE promise.t1 DETACH PARTITION promise.part;
ALTER TABLE promise.t2 ATTACH PARTITION promise.part FOR VALUES IN (1);
SELECT spend('promise.t2', 2);
SELECT dp_resume('d2');
SELECT spend('promise.t2', 2), spend('promise.t1', 4), spend('promise.t2', 8);
TABLE promise.spent;
ALTER TABLE promise.t2 DETACH PARTITION promise.part;
ALTER TABLE promise.t1 ATTACH PARTITION promise.part FOR VALUES IN (1);
SELECT spend('promise.t1', 16);
SELECT dp_resume('d1');
SELECT spend('promise.t1', 16), spend('promise.t2', 32), spend('promise.t1', 64);
TABLE promise.spent;
ALTER TABLE promise.t1 DETACH PARTITION promise.part;
ALTER TABLE promise.t2 ATTACH PARTITION promise.part FOR VALUES IN (1);
SELECT spend('promise.t2', 128);
SELECT dp_resume('d2');
SELECT spend('promise.t2', 128);
TABLE promise.spent;
-- likewise where it is taken out of its dataset
ALTER TABLE promise.t2 DETACH PARTITION promise.part;
SELECT dp_attach('d3', 'promise.part', 'who');
SELECT spend('promise.part', 1);
SELECT dp_detach('d3', 'promise.part');
ALTER TABLE promise.t2 ATTACH PARTITION promise.part FOR VALUES IN (1);
SELECT spend('promise.other', 2), spend('promise.t2', 1);
SELECT dp_resume('d2');
SELECT spend('promise.other', 4), spend('promise.t2', 1);
TABLE promise.spent;
SELECT dp_unprotect(d) FROM unnest('{d1,d2,d3}'::name[]) d;

SET client_min_messages = error;
DROP SCHEMA promise CASCADE;
DROP FUNCTION fresh, life, come, spend;
