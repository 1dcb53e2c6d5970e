#!/bin/bash
# run.sh: make bench.  Yield, speed and memory of dp_ngrams, what rounds gain, what
# distributions are worth, which terms are found under local privacy, and what other servers
# count for a coordinator, on real data, each figure beside what it is compared with, in one run
# on one private server.
#
# The data are read from $DPNGRAM_DATA, by default ../shared/data beside the
# checkout; what is absent is skipped, and said so.  BENCH="charges budget table4 speed git
# unions rounds words distributions local pushdown scale" runs only these parts.  FIGURES is where the
# data of the plots and the plots themselves go, by default doc/figures.
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"

DATA=${DPNGRAM_DATA:-$top/../shared/data}
BENCH=${BENCH:-charges budget collisions table4 speed git unions rounds words distributions local pushdown scale}
FIGURES=${FIGURES:-$top/doc/figures}
here=$top/test/bench
one_process="SET dpngram.max_parallel_workers = 0; SET max_parallel_workers_per_gather = 0;"
status=0

wanted()
{
    case " $BENCH " in *" $1 "*) return 0 ;; *) return 1 ;; esac
}

sql() # runs a file or -c command, quietly
{
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 "$@"
}

have() # FILE
{
    [ -r "$DATA/$1" ] && return 0
    echo "skipped: $DATA/$1 is not there"
    return 1
}

load_msnbc()
{
    sql -c 'CREATE TABLE msnbc (visitor int, pages int[])'
    zcat "$DATA/msnbc990928.seq.gz" | tail -n +8 |
        awk '{ sub(/[ \r]+$/, ""); gsub(/ +/, ","); if ($0 != "") printf "%d\t{%s}\n", NR, $0 }' |
        sql -c 'COPY msnbc FROM STDIN'
    sql -c 'VACUUM ANALYZE msnbc' -c "SELECT dp_protect('msnbc', 'visitor', 1000, 1e-2)" >/dev/null
}

load_git()
{
    sql -c 'CREATE TABLE git_commits (author text, message text)'
    zcat "$DATA/git_commits.tsv.gz" | sed 's/\\/\\\\/g' | sql -c 'COPY git_commits FROM STDIN'
    sql -c 'VACUUM ANALYZE git_commits' \
        -c "SELECT dp_protect('git_commits', 'author', 3000, 1e-2)" >/dev/null
}

load_articles()
{
    sql -c 'CREATE TABLE articles (id bigint, body text)'
    zcat "$DATA/enwiki_articles.tsv.gz" | sed 's/\\/\\\\/g' | sql -c 'COPY articles FROM STDIN'
    sql -c 'VACUUM ANALYZE articles'
}

part() # NAME FILE...
{
    local file
    wanted "$1" || return 0
    echo
    echo "==== $1"
    for file in "${@:2}"; do
        sql --file="$here/$file" || status=1
    done
}

# Seconds, seconds of processor time (which a busy machine lengthens less) and peak
# resident memory of one statement, in a session of its own, with the worker of its call.
measure() # LABEL SETTINGS SQL: the statement returns one row, a text called result
{
    sql --tuples-only --no-align <<SQL
SET client_min_messages = error;
$2
SELECT pg_backend_pid() AS pid, current_setting('shared_buffers') AS buffers \gset
\setenv PID :pid
\! perl "$here/watch.pl" \$PID "$work/watched" & echo \$! >"$work/watch.pid"
SELECT clock_timestamp() AS start \gset
$3 \gset
SELECT extract(epoch FROM clock_timestamp() - :'start'::timestamptz) AS seconds \gset
\! kill \$(cat "$work/watch.pid"); while kill -0 \$(cat "$work/watch.pid") 2>/dev/null; do sleep 0.01; done
\setenv RESULT :result
\setenv LABEL '$1'
\setenv SECONDS_TAKEN :seconds
\! read -r processor peak pages <"$work/watched"; printf '%-52s %8.2f s %8.2f s processor %6.0f MB peak  %s\n' "\$LABEL" "\$SECONDS_TAKEN" "\$processor" "\$peak" "\$RESULT"
SQL
}

msnbc_call="dp_ngrams('msnbc', 'visitor', 'pages', 1, 1e-7, method => 'dpne', max_length => 6, max_contributions => 10,
    max_tokens => 400, threshold_share => 0.5)"
git_call="dp_ngrams('git_commits', 'author', 'message', 4, 1e-7, max_length => 9, method => 'dpne', max_contributions => 100)"

# A call with one process and the least and much memory, and with the default two.
call_speed() # CALL
{
    local memory
    for memory in 4MB 1GB; do
        measure "dp_ngrams, dpne, work_mem $memory, one process" "SET work_mem = '$memory'; $one_process" \
            "SELECT count(*) || ' n-grams' AS result FROM $1"
    done
    measure "dp_ngrams, dpne, work_mem 1GB, two processes" "SET work_mem = '1GB'; SET dpngram.max_parallel_workers = 1;" \
        "SELECT count(*) || ' n-grams' AS result FROM $1"
}

speed()
{
    local round
    echo
    echo "==== speed: MSNBC (eps 1, delta 1e-7, T 6, Delta_0 10), three rounds"
    echo "(processor time and peak memory are the session's and its worker's, the latter with the shared buffers that it touched)"
    for round in 1 2 3; do
        measure "floor: read in the same order, split into tokens" "$one_process" \
            "SELECT sum(cardinality(string_to_array(array_to_string(pages, ' '), ' '))) || ' tokens' AS result
               FROM (SELECT visitor, pages FROM msnbc ORDER BY visitor) s"
        call_speed "$msnbc_call"
    done
    sql --file="$here/pure_sql.sql"
    measure "the same algorithm in pure SQL, work_mem 1 GB" "SET work_mem = '1GB'; $one_process" \
        "SELECT pure_sql_dpne('msnbc', 'visitor', 'pages', 6, 10) || ' n-grams' AS result"
}

git_speed()
{
    local round
    echo
    echo "==== git commits (eps 4, delta 1e-7, T 9, Delta_0 100), three rounds"
    for round in 1 2 3; do
        measure "floor: read in the same order, split into tokens" "$one_process" \
            "SELECT sum(cardinality(string_to_array(lower(message), ' '))) || ' tokens' AS result
               FROM (SELECT author, message FROM git_commits ORDER BY author) s"
        call_speed "$git_call"
    done
    sql --tuples-only -c "SELECT 'n-grams by length: ' || string_agg(c::text, ' ' ORDER BY n) || ' = ' || sum(c)
        FROM (SELECT n, count(*) c FROM $git_call GROUP BY n) s"
    same_rows "$git_call" dpne
    same_rows "${git_call/dpne/dpne-mr}" dpne-mr
    scan_in_the_middle
}

# One seed, one result: whatever work_mem is and wherever the scan starts.
same_rows() # CALL LABEL
{
    local reference= result settings
    for settings in "SET work_mem = '4MB'" "SET work_mem = '1GB'" \
        "SET synchronize_seqscans = on; SELECT count(*) FROM (SELECT FROM git_commits LIMIT 300000) s"; do
        result=$(sql --tuples-only --no-align <<SQL | tail -n 1
SET client_min_messages = error;
SET dpngram.test_seed = 7;
$settings;
SELECT count(*) || ' rows, md5 ' || md5(string_agg(r::text, E'\n')) FROM $1 r;
SQL
        )
        reference=${reference:-$result}
        printf '%-58s %s\n' "$2, seed 7, ${settings%%;*}" "$result"
        [ "$result" = "$reference" ] || { echo "NOT THE SAME ROWS"; status=1; }
    done
}

scan_in_the_middle()
{
    sql --tuples-only -c "SELECT count(*) FROM (SELECT FROM git_commits LIMIT 300000) s" \
        -c "SELECT 'such a scan begins at row ' || ctid::text FROM git_commits LIMIT 1" | tail -n 2
    sql --tuples-only -c "SELECT 'table ' || pg_size_pretty(pg_relation_size('git_commits')) ||
        ', shared_buffers ' || current_setting('shared_buffers')"
}

draw() # PART: its plots
{
    echo
    FIGURES=$FIGURES "$here/figures.sh" "$1" || status=1
}

# A part whose tables have names that another part gives its own, too.
in_schema() # NAME COMMAND
{
    sql -c "CREATE SCHEMA $1"
    PGOPTIONS="-c search_path=$1,public" "$2"
}

# Three histories of calls by the three accountings, which need no data.
budget()
{
    echo
    echo "==== budget"
    mkdir -p "$FIGURES"
    sql --set=folder="$FIGURES" --pset=footer=off --file="$here/budget.sql" || status=1
    draw budget
}

. "$here/distributions.sh"
. "$here/rounds.sh"
. "$here/local.sh"
. "$here/pushdown.sh"
. "$here/scale.sh"

make_work bench
install_extension >"$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
server_start
sql -c 'CREATE EXTENSION dpngram'
if wanted charges; then "$here/charges.sh" "$work" || status=1; fi
if wanted budget; then budget; fi
part collisions collisions.sql
if have msnbc990928.seq.gz; then
    load_msnbc
    msnbc_loaded=yes
    part table4 table4.sql
    if wanted speed; then speed; fi
    if wanted pushdown; then pushdown; fi
fi
if { wanted git || wanted unions || wanted rounds || wanted distributions || wanted scale; } && have git_commits.tsv.gz; then
    load_git
    git_loaded=yes
    if wanted git; then git_speed; fi
    part unions unions.sql
    if wanted rounds && [ "${msnbc_loaded:-}" = yes ]; then in_schema rounds rounds; fi
    if wanted scale && [ "${msnbc_loaded:-}" = yes ]; then scale; fi
fi
if { wanted words || wanted distributions; } && have enwiki_articles.tsv.gz; then
    load_articles
    part words next_words.sql
    if wanted distributions && [ "${msnbc_loaded:-}${git_loaded:-}" = yesyes ]; then
        in_schema distributions distributions
    fi
fi
if wanted local && have reddit_new_terms.tsv.gz; then in_schema local frequent_terms; fi
exit "$status"
