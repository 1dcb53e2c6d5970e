# rounds.sh: dpne-mr on real data beside dpne and dpsu: yield, spurious share, speed, small
# and repetition-free data; the DPNE paper's figures (Kim et al. 2021); verdicts.
#
# Sourced by run.sh, which has loaded MSNBC and the git commits.  ROUNDS_RUNS is how often a
# call is made where a mean is wanted, WORKERS how many sessions make calls; the plots and
# their data go to FIGURES, by default doc/figures.

ROUNDS_RUNS=${ROUNDS_RUNS:-5}
WORKERS=${WORKERS:-2}

rounds_call() # DATASET KIND: as the main table has it
{
    sql --tuples-only --no-align -c "SELECT call_of(j) FROM job j JOIN setting USING (dataset, epsilon, t, bound)
        WHERE dataset = '$1' AND kind = '$2' AND run = 1 AND (eta, c, pruning) = (0.01, 1, 'both')"
}

# The methods take turns, so that what else the machine does touches all of them; the calls
# have one process, whose processor time is then all that they take.
rounds_speed()
{
    local dataset kind memory round line
    echo
    echo "---- speed: three calls of each, in turns"
    sql -c "CREATE TABLE measured (dataset text, kind text, work_mem text, seconds float8, processor float8, mb float8)"
    for dataset in msnbc git; do
        for memory in 4MB 1GB; do
            for round in 1 2 3; do
                for kind in dpne balanced adaptive; do
                    line=$(measure "$dataset, $kind, work_mem $memory, $round" "SET work_mem = '$memory'; $one_process" \
                        "SELECT count(*) || ' n-grams' AS result FROM $(rounds_call "$dataset" "$kind")")
                    echo "$line"
                    echo "$line" | sed "s/.* \([0-9.]*\) s  *\([0-9.]*\) s processor  *\([0-9]*\) MB.*/$dataset $kind $memory \1 \2 \3/" |
                        tr ' ' '\t' | sql -c 'COPY measured FROM STDIN'
                done
            done
        done
    done
}

make_calls()
{
    local worker pids=()
    for worker in $(seq 0 $((WORKERS - 1))); do
        sql -c "SET client_min_messages = error" -c "CALL work_off_calls($worker, $WORKERS)" >&2 &
        pids[worker]=$!
    done
    for worker in $(seq 0 $((WORKERS - 1))); do
        wait "${pids[worker]}" || { echo "NOT OK: calls failed"; status=1; }
    done
    sql -c "VACUUM ANALYZE yield" -c "VACUUM ANALYZE found"
}

rounds()
{
    local from=$here/rounds stage=$SECONDS file
    echo
    echo "==== rounds"
    mkdir -p "$FIGURES"
    sql --file="$from/frame.sql"
    sql --file="$from/data.sql" >/dev/null
    sql --set=runs="$ROUNDS_RUNS" --tuples-only --file="$from/plan.sql" | grep calls
    took preparation
    rounds_speed
    took speed
    make_calls
    took calls
    sql --file="$from/truth.sql"
    took "users of n-grams"
    for file in tables files verdicts; do
        sql --set=folder="$FIGURES" --set=runs="$ROUNDS_RUNS" --pset=footer=off --file="$from/$file.sql" || status=1
    done
    draw rounds
    took "tables, plots"
}
