-- data.sql: samples of the users, and users who have nothing in common.

CREATE TABLE msnbc_tenth AS
SELECT * FROM msnbc WHERE ('x' || substr(md5(visitor::text), 1, 7))::bit(28)::int % 10 = 0;
CREATE TABLE git_tenth AS
SELECT * FROM git_commits WHERE ('x' || substr(md5(author), 1, 7))::bit(28)::int % 10 = 0;

-- 50,000 users of ten random words of 16 letters; and the same with a common word after
-- each of them, so that there is one word to be found, and one candidate beyond it.
CREATE TABLE noise AS
SELECT id, string_agg(word, ' ') AS message
FROM generate_series(1, 50000) AS id, generate_series(1, 10) AS i,
	LATERAL (SELECT translate(substr(md5(id || ' ' || i), 1, 16), '0123456789', 'ghijklmnop') AS word) w
GROUP BY id;
CREATE TABLE noise_common AS SELECT id, replace(message, ' ', ' common ') AS message FROM noise;

VACUUM ANALYZE msnbc_tenth;
VACUUM ANALYZE git_tenth;
VACUUM ANALYZE noise;
VACUUM ANALYZE noise_common;

SELECT dp_protect('msnbc_tenth', 'visitor', 1000, 1e-2), dp_protect('git_tenth', 'author', 1000, 1e-2),
	dp_protect('noise', 'id', 1000, 1e-2), dp_protect('noise_common', 'id', 1000, 1e-2);

INSERT INTO dataset VALUES
	('msnbc', 'msnbc', 'visitor', 'pages', 400), ('git', 'git_commits', 'author', 'message', NULL),
	('msnbc, a tenth', 'msnbc_tenth', 'visitor', 'pages', 400), ('git, a tenth', 'git_tenth', 'author', 'message', NULL),
	('noise', 'noise', 'id', 'message', NULL), ('noise, a common word', 'noise_common', 'id', 'message', NULL);
