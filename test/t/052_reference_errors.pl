# 052_reference_errors.pl: the errors that doc/reference.md names do come, each of them, from
# the functions that it names them for.
#
# Each statement ends in the error whose SQLSTATE stands before it, in a transaction that is
# rolled back then, so that none meets what another one has done.
use strict;
use warnings;
use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use LedgerNode;
use Manual;

my $page = manual_text('reference.md');
my $node = ledger_node('reference_errors');

# ---- the tables of the page's examples, and some more ----

$node->safe_psql('postgres', join('', $page =~ /^<!-- example -->\n```sql\n(.*?)^```$/msg));
$node->safe_psql('postgres', q{
CREATE ROLE eve;
CREATE SEQUENCE counter;
CREATE SCHEMA closed;
CREATE TABLE closed.t (author int, body text);
CREATE TABLE spare (author int, body text, note json, noted timestamp);
CREATE TABLE twice AS SELECT 'word'::text AS ngram, 1::bigint AS count FROM generate_series(1, 2);
CREATE TABLE anas AS TABLE spare;
ALTER TABLE anas OWNER TO ana;

-- rows of two datasets, which came together after they were protected
CREATE TABLE whole (author int, body text) PARTITION BY RANGE (author);
CREATE TABLE part (author int, body text);
SELECT dp_protect('whole', 'author', 1, 1e-6);
SELECT dp_protect('part', 'author', 1, 1e-6);
ALTER TABLE whole ATTACH PARTITION part FOR VALUES FROM (0) TO (10);

-- a dataset of a table that was made anew, and the other one in which that one is
CREATE TABLE twin (author int, body text);
SELECT dp_protect('twin', 'author', 1, 1e-6);
DROP TABLE twin;
CREATE TABLE other (author int, body text);
SELECT dp_protect('other', 'author', 1, 1e-6);
ALTER TABLE other RENAME TO twin;

-- what spent more than another budget holds; a view that can't be read
CREATE TABLE heavy (author int, body text);
CREATE TABLE light (author int, body text);
CREATE VIEW failing AS SELECT author, (1 / (author - author))::text AS body FROM posts;
SELECT dp_protect('heavy', 'author', 1, 1e-6);
SELECT dp_protect('light', 'author', 0.1, 1e-7, dataset => 'small');
SELECT dp_protect('failing', 'author', 1, 1e-6);
SELECT count(*) FROM dp_ngrams('heavy', 'author', 'body', 1, 1e-6);
SELECT dp_unprotect('heavy');});

# ---- the errors ----

my %raised;
while (my $line = <DATA>)
{
	my ($function, $state, $statement) = $line =~ /^(\w+) (\w{5}) (.*)$/ or next;

	$statement = "BEGIN; $statement; ROLLBACK" unless $statement =~ /^BEGIN/;
	is(sqlstate($node, $statement), $state, $line =~ s/\n//r);
	$raised{$function}{$state} = 1;
}

# What takes a subscription, or more of something than is good for a test.
my %not_here = map { $_ => 1 } ('dp_resume 55000', 'dp_set_union NG008', 'bayes_dp_dist 54000', 'ldp_round 54000', 'ldp_decode 54000');
for my $section (split(/^(?=##)/m, $page))
{
	my ($function) = $section =~ /^### (\w+)$/m or next;
	my ($errors) = $section =~ /^\*\*Errors\*\*: (.*?)\n\n/ms or next;
	my %named = map { $_ => 1 } $errors =~ /\b(NG\d{3}|\d{2}[0-9P]\d\d)\b/g;

	is(join(' ', grep { !$raised{$function}{$_} && !$not_here{"$function $_"} } sort keys %named), '', "$function: every error that is named comes");
}
my ($list) = $page =~ /^### Errors of releases\n(.*)/ms;
my %release = map { $_ => 1 } $list =~ /\b(NG\d{3}|\d{2}[0-9P]\d\d)\b/g;
my %elsewhere = map { $_ => 1 } qw(NG006 25000 55000 57014 NG012 54000);    # each has tests of its own
is(join(' ', grep { !$raised{dp_ngrams}{$_} && !$elsewhere{$_} } sort keys %release), '', 'every error of releases comes');

$node->stop;
done_testing();

__DATA__
dp_protect NG005 SELECT dp_protect('spare', 'author', 0, 1e-6)
dp_protect NG005 SELECT dp_protect('spare', 'author', 1, 1)
dp_protect NG005 SELECT dp_protect('spare', 'author', 1, 0, accounting => 'zcdp')
dp_protect NG005 SELECT dp_protect('spare', 'author', 1, 1e-6, dataset => '')
dp_protect NG005 SELECT dp_protect('spare', 'author', 1, 1e-6, pure_share => 1)
dp_protect NG005 SELECT dp_protect('spare', 'author', 1, 1e-6, columns => '{}')
dp_protect NG005 SELECT dp_protect('spare', 'author', 1, 1e-6, options => '{"renews": "7 hours", "time_col": "noted"}')
dp_protect NG005 SELECT dp_protect('spare', 'author', 1, 1e-6, options => '{"renews": "1 day"}')
dp_protect NG005 SELECT dp_protect('spare', 'author', 1, 1e-6, options => '{"renews": "1 month", "window": "rolling", "time_col": "noted"}')
dp_protect NG005 SELECT dp_protect('spare', 'author', 1, 1e-6, options => '{"renews": "1001 years", "time_col": "noted"}')
dp_protect NG010 SELECT dp_protect('spare', 'none', 1, 1e-6)
dp_protect NG010 SELECT dp_protect('spare', 'note', 1, 1e-6)
dp_protect NG010 SELECT dp_protect('spare', 'author', 1, 1e-6, columns => '{none}')
dp_protect NG010 SELECT dp_protect('spare', 'author', 1, 1e-6, options => '{"renews": "6 hours", "time_col": "noted", "time_zone": "Europe/Paris"}')
dp_protect NG011 SELECT dp_protect('posts', 'author', 1, 1e-6)
dp_protect NG011 SELECT dp_protect('part', 'author', 1, 1e-6)
dp_protect 42710 SELECT dp_protect('spare', 'author', 1, 1e-6, dataset => 'posts')
dp_protect 42501 SET ROLE eve; SELECT dp_protect('spare', 'author', 1, 1e-6)
dp_protect 42501 SET ROLE ana; SELECT dp_protect('anas', 'author', 1, 1e-6, options => '{"carry_forward": false}')
dp_protect 42809 SELECT dp_protect('counter', 'author', 1, 1e-6)
dp_protect 42809 CREATE TEMP TABLE t (author int); SELECT dp_protect('t', 'author', 1, 1e-6)
dp_protect 42809 SELECT dp_protect('pg_class', 'relname', 1, 1e-6)
dp_protect 25006 BEGIN READ ONLY; SELECT dp_protect('spare', 'author', 1, 1e-6)
dp_set_budget NG005 SELECT dp_set_budget('posts', 1, 1e-6)
dp_set_budget NG005 SELECT dp_set_budget('typed', 30, 1e-6)
dp_set_budget NG005 SELECT dp_set_budget('posts', 'Infinity', 1e-6)
dp_set_budget 42704 SELECT dp_set_budget('none', 1, 1e-6)
dp_set_budget 42501 SET ROLE eve; SELECT dp_set_budget('posts', 20, 1e-5)
dp_set_budget 25006 BEGIN READ ONLY; SELECT dp_set_budget('posts', 20, 1e-5)
dp_attach NG001 SELECT dp_attach('small', 'heavy', 'author')
dp_attach NG005 SELECT dp_attach('posts', 'spare', 'author', options => '{"time_col": "noted"}')
dp_attach NG010 SELECT dp_attach('posts', 'spare', 'none')
dp_attach NG011 SELECT dp_attach('posts', 'typed', 'phone')
dp_attach 42809 SELECT dp_attach('posts', 'counter', 'author')
dp_attach 42704 SELECT dp_attach('none', 'spare', 'author')
dp_attach 42501 SET ROLE eve; SELECT dp_attach('posts', 'spare', 'author')
dp_attach 25006 BEGIN READ ONLY; SELECT dp_attach('posts', 'spare', 'author')
dp_detach NG002 SELECT dp_detach('posts', 'spare')
dp_detach NG005 SELECT dp_detach('posts', 'posts')
dp_detach NG005 SELECT dp_detach('posts', NULL)
dp_detach 42704 SELECT dp_detach('none', 'posts')
dp_detach 42501 SET ROLE eve; SELECT dp_detach('posts', 'posts')
dp_detach 25006 BEGIN READ ONLY; SELECT dp_detach('posts', 'posts')
dp_grant NG005 SELECT dp_grant('posts', 'eve', 100)
dp_grant NG005 SELECT dp_grant('posts', 'public')
dp_grant NG005 SELECT dp_grant('posts', NULL)
dp_grant NG007 ALTER TABLE posts OWNER TO ana; SELECT dp_grant('posts', 'eve')
dp_grant 42704 SELECT dp_grant('none', 'eve')
dp_grant 42704 SELECT dp_grant('posts', 'nobody at all')
dp_grant 42501 SET ROLE eve; SELECT dp_grant('posts', 'eve')
dp_grant 25006 BEGIN READ ONLY; SELECT dp_grant('posts', 'eve')
dp_revoke NG003 SELECT dp_revoke('posts', 'eve')
dp_revoke NG005 SELECT dp_revoke('posts', NULL)
dp_revoke 42704 SELECT dp_revoke('none', 'ana')
dp_revoke 42501 SET ROLE eve; SELECT dp_revoke('posts', 'ana')
dp_revoke 25006 BEGIN READ ONLY; SELECT dp_revoke('posts', 'ana')
dp_unprotect NG005 SELECT dp_unprotect(NULL)
dp_unprotect 42704 SELECT dp_unprotect('none')
dp_unprotect 42501 SET ROLE eve; SELECT dp_unprotect('posts')
dp_unprotect 25006 BEGIN READ ONLY; SELECT dp_unprotect('posts')
dp_resume 42P01 DROP TABLE typed; SELECT dp_resume('typed')
dp_resume NG010 ALTER TABLE typed DROP phone; SELECT dp_resume('typed')
dp_resume NG011 SELECT dp_resume('twin')
dp_resume NG005 SELECT dp_resume(NULL)
dp_resume 42704 SELECT dp_resume('none')
dp_resume 42501 SET ROLE eve; SELECT dp_resume('posts')
dp_resume 25006 BEGIN READ ONLY; SELECT dp_resume('posts')
dp_doctor 42704 SELECT dp_doctor('none')
dp_doctor 42501 SET ROLE eve; SELECT dp_doctor('posts')
dp_export_events NG005 SELECT dp_export_events(NULL)
dp_export_events 42704 SELECT dp_export_events('none')
dp_export_events 42501 SET ROLE eve; SELECT dp_export_events('posts')
dp_ngrams NG001 SELECT dp_ngrams('typed', 'phone', 'word', 1, 1e-6)
dp_ngrams NG001 SELECT dp_ngrams('posts', 'author', 'body', 100, 1e-6)
dp_ngrams NG002 SELECT dp_ngrams('spare', 'author', 'body', 1, 1e-6)
dp_ngrams NG003 SET ROLE eve; SELECT dp_ngrams('posts', 'author', 'body', 1, 1e-6)
dp_ngrams NG004 SELECT dp_ngrams('posts', 'lang', 'body', 1, 1e-6)
dp_ngrams NG005 SELECT dp_ngrams('posts', 'author', 'body', 1, 0)
dp_ngrams NG005 SELECT dp_ngrams('posts', 'author', 'body', 1, 1e-6, tokenizer => 'none')
dp_ngrams NG005 SELECT dp_ngrams('posts', 'author', 'body', 1, 1e-6, options => '{"period": "today"}')
dp_ngrams NG005 SELECT dp_ngrams('posts', 'author', 'body', 1, 1e-6, tokenizer => 'config:simple', options => '{"execution": "pushdown"}')
dp_ngrams NG005 SELECT dp_ngrams('posts', 'author', 'body', 1e-12, 1e-300)
dp_ngrams NG007 ALTER TABLE posts OWNER TO ana; SELECT dp_ngrams('posts', 'author', 'body', 1, 1e-6)
dp_ngrams NG008 SELECT dp_ngrams('failing', 'author', 'body', 1, 1e-6)
dp_ngrams NG009 BEGIN; SELECT dp_grant('posts', 'eve'); SELECT dp_ngrams('posts', 'author', 'body', 1, 1e-6)
dp_ngrams NG010 SELECT dp_ngrams('posts', 'author', 'none', 1, 1e-6)
dp_ngrams NG010 SELECT dp_ngrams('posts', 'author', 'posted', 1, 1e-6)
dp_ngrams NG011 SELECT dp_ngrams('whole', 'author', 'body', 1, 1e-7)
dp_ngrams 25006 BEGIN READ ONLY; SELECT dp_ngrams('posts', 'author', 'body', 1, 1e-6)
dp_ngrams 42P01 SELECT dp_ngrams(1::regclass, 'author', 'body', 1, 1e-6)
dp_ngrams 42501 SET ROLE eve; SELECT dp_ngrams('closed.t', 'author', 'body', 1, 1e-6)
dp_set_union NG001 SELECT dp_set_union('typed', 'phone', 'word', 1, 1e-6)
dp_set_union NG001 SELECT dp_set_union('typed', 'phone', 'word', 1, 1e-6, method => 'weighted_laplace')
dp_set_union NG005 SELECT dp_set_union('posts', 'author', 'lang', 1, 1e-6, method => 'single')
dp_set_union NG005 SELECT dp_set_union('posts', 'author', 'lang', 1, 1e-6, options => '{"alpha": 3}')
dp_set_union NG005 SELECT dp_set_union('posts', 'author', 'lang', 1, 1e-6, method => 'policy_gaussian', options => '{"alpha": 11}')
bayes_dp_dist NG005 SELECT bayes_dp_dist('posts', 'author', 'body', 'public_bigrams', 1, 1e-6, n => 3)
bayes_dp_dist NG005 SELECT bayes_dp_dist('posts', 'author', 'body', 'public_bigrams', 1, 1e-6, n => 2, method => 'laplace')
bayes_dp_dist NG005 SELECT bayes_dp_dist('posts', 'author', 'body', 'public_bigrams', 1, 0, n => 2, method => 'log-posterior')
bayes_dp_dist NG005 SELECT bayes_dp_dist('posts', 'author', 'body', 'twice', 1, 1e-6, n => 1)
bayes_dp_dist NG010 SELECT bayes_dp_dist('posts', 'author', 'body', 'spare', 1, 1e-6)
bayes_dp_dist NG011 SELECT bayes_dp_dist('posts', 'author', 'body', 'typed', 1, 1e-6)
bayes_dp_dist 42501 SET ROLE ana; SELECT bayes_dp_dist('posts', 'author', 'body', 'public_bigrams', 1, 1e-6, n => 2)
bayes_dp_dist 42501 GRANT SELECT ON public_bigrams TO ana; SET ROLE ana; SELECT bayes_dp_dist('posts', 'author', 'body', 'public_bigrams', 1, 1e-6, n => 2, method => 'local-sensitivity')
ldp_frequent_terms NG012 SELECT ldp_frequent_terms('posts', 'author', 'lang', 1)
ldp_frequent_terms NG005 SELECT ldp_frequent_terms('typed', 'phone', 'word', 1, method => 'rappor', alphabet => 'a-zA-Z0-9', max_length => 1000)
ldp_frequent_terms 54000 SELECT ldp_frequent_terms('typed', 'phone', 'word', 1, method => 'rappor', max_length => 6, options => '{"max_work": 1}')
dp_price NG005 SELECT dp_price('dp_protect', 1, 1e-6)
dp_price NG005 SELECT dp_price('ldp_frequent_terms', 1, 0.1)
dp_price NG001 SELECT dp_price('dp_ngrams', 1, 1e-6, '{"dataset": "typed"}')
dp_price NG012 SELECT dp_price('ldp_frequent_terms', 1, 0, '{"dataset": "posts"}')
dp_price 42704 SET ROLE eve; SELECT dp_price('dp_ngrams', 1, 1e-6, '{"dataset": "posts"}')
dp_remaining NG005 SELECT dp_remaining(NULL)
dp_remaining 42704 SET ROLE eve; SELECT dp_remaining('posts')
dp_budget_report NG005 SELECT dp_budget_report(NULL)
dp_budget_report 42704 SET ROLE eve; SELECT dp_budget_report('posts')
ldp_round NG005 SELECT ldp_round('ibsl', 1)
ldp_round NG005 SELECT ldp_round('rappor', 1, alphabet => 'a-zA-Z0-9', max_length => 1000)
ldp_round NG005 SELECT ldp_round(ARRAY[]::jsonb[], 'reports')
ldp_round NG010 SELECT ldp_round(ARRAY[ldp_round('privtrie', 1)], 'spare')
ldp_round NG010 SELECT ldp_round(ARRAY[ldp_round('privtrie', 1)], 'spare', 'body')
ldp_round 42501 SET ROLE eve; SELECT ldp_round(ARRAY[ldp_round('privtrie', 1)], 'reports')
ldp_encode NG005 SELECT ldp_encode('pem', 'a', 2, ldp_round('pem', 1, max_length => 6))
ldp_encode NG005 SELECT ldp_encode('privtrie', 'a', 1, ldp_round('privtrie', 1))
ldp_encode NG005 SELECT ldp_encode('privtrie', 'a', 1, ldp_round('privtrie', 1), '\x00')
ldp_encode NG005 SELECT ldp_encode('pem', 'a', 1, '{}')
ldp_decode NG005 SELECT ldp_decode(ARRAY['{}'::jsonb], 'reports')
ldp_decode NG010 SELECT ldp_decode(ARRAY[ldp_round('pem', 1)], 'spare')
ldp_decode 42501 SET ROLE eve; SELECT ldp_decode(ARRAY[ldp_round('pem', 1)], 'reports')
oue_bit NG005 SELECT oue_bit(true, NULL)
oue_count NG005 SELECT oue_count(true, 0)
oue_count NG005 SELECT oue_count(true, e) FROM (VALUES (1), (2)) v (e)
ngrams NG005 SELECT ngrams('a', 1, 'none')
ngrams NG010 SELECT ngrams(ARRAY[1.5], 1)
dp_public_ngrams NG005 SELECT dp_public_ngrams('spare', 'body', n => 0)
dp_public_ngrams NG010 SELECT dp_public_ngrams('spare', 'none')
dp_public_ngrams NG010 SELECT dp_public_ngrams('spare', 'noted')
dp_public_ngrams NG011 SELECT dp_public_ngrams('posts', 'body')
dp_public_ngrams 42501 SET ROLE eve; SELECT dp_public_ngrams('spare', 'body')
dp_next_words NG005 SELECT dp_next_words('phrases', NULL::text)
dp_next_words NG010 SELECT dp_next_words('public_bigrams', 'a')
dp_next_words 42501 SET ROLE eve; SELECT dp_next_words('phrases', 'a')
dp_index_next_words NG005 SELECT dp_index_next_words(NULL)
dp_index_next_words NG010 SELECT dp_index_next_words('spare')
dp_index_next_words 42501 SET ROLE eve; SELECT dp_index_next_words('phrases')
dp_index_next_words 42809 SELECT dp_index_next_words('model')
dp_index_next_words 42P07 SELECT dp_index_next_words('phrases')
kl_divergence NG005 SELECT kl_divergence(1, -1)
cross_entropy NG005 SELECT cross_entropy(1, 'Infinity')
cross_entropy NG005 SELECT cross_entropy(-1, 1)
perplexity NG005 SELECT perplexity('NaN')
ngram_score NG005 SELECT ngram_score('model', 'articles', 'body', n => 3)
ngram_score NG010 SELECT ngram_score('public_bigrams', 'articles', 'body')
ngram_score 42501 SET ROLE eve; SELECT ngram_score('model', 'articles', 'body', n => 2)
kanon_ngrams NG005 SELECT kanon_ngrams('posts', 'author', 'body', 0)
kanon_ngrams NG010 SELECT kanon_ngrams('posts', 'none', 'body', 1)
kanon_ngrams NG010 SELECT kanon_ngrams('posts', 'author', 'posted', 1)
kanon_ngrams 42501 SET ROLE ana; SELECT kanon_ngrams('posts', 'author', 'body', 1)
dp_membership_attack NG005 SELECT dp_membership_attack('spare', 'author', 'body', 'public_bigrams', 1, 1e-6, n => 2)
dp_membership_attack NG005 SELECT dp_membership_attack('posts', 'author', 'body', 'public_bigrams', 1, 1e-6, n => 2, options => '{"period": "today"}')
dp_membership_attack NG010 SELECT dp_membership_attack('posts', 'none', 'body', 'public_bigrams', 1, 1e-6, n => 2)
dp_membership_attack NG011 SELECT dp_membership_attack('posts', 'author', 'body', 'typed', 1, 1e-6)
dp_membership_attack 42501 GRANT SELECT ON public_bigrams TO ana; SET ROLE ana; SELECT dp_membership_attack('posts', 'author', 'body', 'public_bigrams', 1, 1e-6, n => 2)
frequent_terms_fscore NG005 SELECT frequent_terms_fscore(NULL, 'posts', 'author', 'lang')
frequent_terms_fscore NG005 SELECT frequent_terms_fscore('{a}', 'posts', 'author', 'lang', 0)
frequent_terms_fscore NG010 SELECT frequent_terms_fscore('{a}', 'posts', 'none', 'lang')
frequent_terms_fscore 42501 SET ROLE ana; SELECT frequent_terms_fscore('{a}', 'posts', 'author', 'lang')
