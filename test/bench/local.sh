# local.sh: ldp_frequent_terms on real data: F-scores of every method, consistency,
# estimates, speed; tables, plots and verdicts.  The experiments are those of the PrivTrie
# paper (Wang et al., ICDE 2018, section V).
#
# Sourced by run.sh.  RUNS is how often a collection is made; the plots and their data go
# to FIGURES, by default doc/figures.

RUNS=${RUNS:-5}

load_terms()
{
    sql -c 'CREATE TABLE reddit (id int PRIMARY KEY, term text)'
    zcat "$DATA/reddit_new_terms.tsv.gz" | sql -c 'COPY reddit FROM STDIN'
    sql --file="$here/local/data.sql" >/dev/null
}

# Two sessions work off the collections.
collect_terms()
{
    local worker workers=2 pids=()
    sql --file="$here/local/frame.sql" -c "SELECT plan_collections($RUNS)" >/dev/null
    for worker in $(seq 0 $((workers - 1))); do
        sql -c "SET client_min_messages = error" -c "CALL collect($worker, $workers)" >&2 &
        pids[worker]=$!
    done
    for worker in $(seq 0 $((workers - 1))); do
        wait "${pids[worker]}" || { echo "NOT OK: collections failed"; status=1; }
    done
    sql -c "SELECT draw_given(20)" >/dev/null
}

terms_speed() # DATASET METHOD EPSILON LABEL
{
    measure "$4" "SET max_parallel_workers_per_gather = 0;" \
        "SELECT count(*) || ' terms' AS result FROM ldp_frequent_terms('$1', 'id', 'term', $3, 100, '$2')" |
        tee "$work/terms_speed"
}

local_speed()
{
    local method
    echo
    echo "---- speed: 7,613,851 users, one process, epsilon 2, k => 100"
    measure "floor: read and sort by user" "SET max_parallel_workers_per_gather = 0;" \
        "SELECT count(*) || ' rows beyond the last' AS result FROM (SELECT id, term FROM reddit7 ORDER BY id OFFSET 10000000) s"
    for method in ibsl bsl pem treehist privtrie; do
        terms_speed reddit7 "$method" 2 "$method"
    done
    sed 's/.* s \+\([0-9.]*\) s processor .*/\1/' "$work/terms_speed" | awk '{
        ok = $1 <= 10
        printf "privtrie: %.2f s of processor time, at most 10 s wanted: %s\n", $1, ok ? "ok" : "NOT OK"
        exit !ok }' || status=1
}

# RAPPOR bounds its work; what it says where that is not enough is printed.
rappor_speed()
{
    local dataset
    echo
    echo "---- rappor, epsilon 4"
    sql --file="$here/local/attempt.sql"
    for dataset in zipf reddit reddit7; do
        measure "rappor, $dataset" "SET max_parallel_workers_per_gather = 0;" "SELECT attempt('$dataset') AS result"
    done
}

frequent_terms()
{
    local stage=$SECONDS file
    echo
    echo "==== local"
    mkdir -p "$FIGURES"
    load_terms
    took preparation
    local_speed
    rappor_speed
    took speed
    collect_terms
    took collections
    for file in tables verdicts; do
        sql --set=folder="$FIGURES" --pset=footer=off --file="$here/local/$file.sql" || status=1
    done
    draw local
    took "tables, plots"
}
