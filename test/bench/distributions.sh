# distributions.sh: bayes_dp_dist on real data: divergence from the private distribution
# by every method, perplexity, membership inference, speed; tables, plots and verdicts.
#
# Sourced by run.sh, which has loaded MSNBC, the git commits and Wikipedia's articles.  DRAWS is how often a
# release is drawn; the plots and their data go to FIGURES, by default doc/figures.

DRAWS=${DRAWS:-3}

best_of_three() # LABEL SETTINGS SQL: prints the fastest; $seconds are of its processor time
{
    local fastest
    fastest=$(for _ in 1 2 3; do measure "$@"; done | sort -k 1.54,1.61n | head -n 1)
    echo "$fastest"
    seconds=$(sed 's/.* \([0-9.]*\) s processor .*/\1/' <<<"$fastest")
}

release_speed() # LABEL VOCABULARY METHOD...
{
    best_of_three "$1" "" "SELECT count(*) || ' rows' AS result FROM bayes_dp_dist('git_commits', 'author',
        'message', '$2', 1, $3)"
}

next_words_latency() # LABEL CALLS
{
    pgbench --no-vacuum --transactions="$2" --file="$work/next_words.sql" 2>/dev/null |
        sed -n "s/^latency average = \(.*\) ms\$/$1: \1 ms a lookup, mean of $2/p"
}

next_words()
{
    sql >/dev/null <<SQL
CREATE TABLE git_next_words AS
SELECT * FROM bayes_dp_dist('git_commits', 'author', 'message', 'vocabulary_60000', 1, 1e-6);
CREATE TABLE git_prefixes AS SELECT number AS id, ngram_prefix(words) AS words FROM git_words;
CREATE UNIQUE INDEX ON git_prefixes (id);
ANALYZE git_next_words, git_prefixes;
SQL
    cat >"$work/next_words.sql" <<SQL
\set id random(1, 60000)
SELECT * FROM git_prefixes, dp_next_words('git_next_words', words, 5) WHERE id = :id;
SQL
    next_words_latency "dp_next_words, 60,000 rows, no index" 50
    sql -c "SELECT dp_index_next_words('git_next_words')" >/dev/null
    next_words_latency "dp_next_words, 60,000 rows, indexed" 1000
}

distribution_speed()
{
    local floor
    echo
    echo "---- speed on the git commits, the fastest of three"
    sql >/dev/null <<SQL
CREATE TABLE vocabulary_60000 AS SELECT words AS ngram, count FROM git_words;
CREATE TABLE vocabulary_1 AS SELECT words AS ngram, count FROM git_words WHERE number = 1;
SQL
    best_of_three "SQL: count(*) of ngrams(message, 3)" "" \
        "SELECT count(*) || ' trigrams' AS result FROM git_commits, ngrams(message, 3)"
    release_speed "floor: bayes_dp_dist, vocabulary of one trigram" vocabulary_1 1e-6
    floor=$seconds
    release_speed "bayes_dp_dist, 60,000 trigrams" vocabulary_60000 1e-6
    awk -v floor="$floor" -v seconds="$seconds" 'BEGIN {
        ok = seconds <= floor + 1
        printf "%.2f s of processor time above the floor, at most 1 s wanted: %s\n", seconds - floor, ok ? "ok" : "NOT OK"
        exit !ok }' || status=1
    release_speed "the same, log-posterior with tune" vocabulary_60000 "1e-6, method => 'log-posterior', tune => true"
    release_speed "the same, laplace" vocabulary_60000 "0, method => 'laplace'"
    release_speed "the same, local-sensitivity by brute force" vocabulary_60000 "1e-6, method => 'local-sensitivity'"
    release_speed "the same, local-sensitivity, worst case" vocabulary_60000 \
        "1e-6, method => 'local-sensitivity', sensitivity => 'worst-case'"
    measure "dp_public_ngrams, Wikipedia, 9.1 M words, count >= 5" "" \
        "SELECT count(*) || ' trigrams' AS result FROM dp_public_ngrams('articles', 'body', 3, 5)"
    next_words
}

# Two sessions work off the jobs: first all, then further draws of the best of each grid.
work_off()
{
    local worker workers=2 first
    first=$(sql --tuples-only --no-align -c "SELECT coalesce(max(id), 0) FROM job")
    sql -c "SELECT $1($DRAWS)" >/dev/null
    for worker in $(seq 0 $((workers - 1))); do
        sql -c "SET client_min_messages = error" -c "CALL work_off($first, $worker, $workers)" >&2 &
        pids[worker]=$!
    done
    for worker in $(seq 0 $((workers - 1))); do
        wait "${pids[worker]}" || { echo "NOT OK: releases failed"; status=1; }
    done
}

took() # STAGE: the seconds since the last one
{
    echo "($1: $((SECONDS - stage)) s)"
    stage=$SECONDS
}

distributions()
{
    local from=$here/distributions file pids=() stage=$SECONDS
    echo
    echo "==== distributions"
    mkdir -p "$FIGURES"
    for file in frame msnbc git; do sql --file="$from/$file.sql" >/dev/null; done
    took preparation
    distribution_speed
    took speed
    work_off plan_jobs
    work_off plan_best
    took releases
    for file in tables kanonymity verdicts perplexity membership; do
        sql --set=draws="$DRAWS" --set=folder="$FIGURES" --pset=footer=off --file="$from/$file.sql" || status=1
    done
    took "tables, perplexity, membership"
    draw distributions
}
