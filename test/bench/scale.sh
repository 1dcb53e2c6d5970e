# scale.sh: where the time of dp_ngrams goes, what it takes as the data grow, how much of it
# a second processor saves, and how much memory it has at its peak.
#
# Sourced by run.sh, which has loaded MSNBC and the git commits.  Larger data are the git
# commits again and again, each time with other users who have as many texts as the first,
# but others, dealt by a fixed permutation.  COPIES is how often in the end.
#
# Memory is counted twice: by the server, as all that its memory contexts hold, sampled
# every ten milliseconds by test/modules/phase_test; and by the kernel, as the pages of the
# call's processes that are not shared (RssAnon), sampled every twenty.

COPIES=${COPIES:-16}
GROWTH_MEM=${GROWTH_MEM:-64MB}
phase_lib=$top/test/modules/phase_test

msnbc_scale_call="'visitor', 'pages', 1, 1e-7, max_length => 6, max_contributions => 10, max_tokens => 400"
git_scale_call="'author', 'message', 4, 1e-7, max_length => 9, max_contributions => 100"

scale_call() # DATASET METHOD [SCHEMA]
{
    case $1 in
        msnbc) echo "${3:-public}.dp_ngrams('msnbc', $msnbc_scale_call, method => '$2')" ;;
        git) echo "${3:-public}.dp_ngrams('git_commits', $git_scale_call, method => '$2')" ;;
        *) echo "${3:-public}.dp_ngrams('grown', $git_scale_call, method => '$2')" ;;
    esac
}

# The library is loaded by the server, which may not enter the tree.
build_phases()
{
    "$MAKE" -s -C "$phase_lib" -j2 all
    install -m 755 "$phase_lib/phase_test.so" "$work/phase_test.so"
    PHASE_TEST_MODULE=$work/phase_test sql --file="$phase_lib/sql/setup.sql"
    sql --file="$here/scale/measured.sql"
}

# Reading as far as each stage, in turns, and the phases of one whole call.
break_down() # DATASET METHOD
{
    local call
    call=$(scale_call "$1" "$2" phase)
    sql >/dev/null <<SQL
SET client_min_messages = error;
SET dpngram.max_parallel_workers = 0;
SET work_mem = '1GB';
SELECT count(*) FROM $call;
DO \$\$
DECLARE
	which text;
BEGIN
	FOR run IN 1 .. 3 LOOP
		FOREACH which IN ARRAY '{query,tokens,words,documents,corpus}'::text[] LOOP
			PERFORM phase.stage(which), phase.start(true);
			PERFORM count(*) FROM $call;
			PERFORM phase.stop();
			INSERT INTO read_time
			SELECT '$1', '$2', which, run, sum(seconds) FROM phase.times() WHERE phase ~ '^read' OR phase = 'group by user';
			IF which = 'tokens' THEN
				INSERT INTO dataset_tokens VALUES ('$1', phase.tokens()) ON CONFLICT DO NOTHING;
			END IF;
		END LOOP;
	END LOOP;
END \$\$;
SELECT phase.stage('all'), phase.start(true);
SELECT count(*) FROM $call;
SELECT phase.stop();
INSERT INTO phase_time SELECT '$1', '$2', place, level, round, phase, entered, tokens, seconds FROM phase.times();
SQL
}

temp_bytes() # of the server log from a byte on, in MB
{
    tail -c "+$(($1 + 1))" "$work/server/log" | sed -n 's/.*temporary file: path .*, size \([0-9]*\)$/\1/p' |
        awk '{ s += $1 } END { printf "%.1f", s / 1e6 }'
}

# One whole call, timed and watched, as a row of whole_call.  What is watched by the server's
# own count runs the library with the clock, which stands still.
watch_call() # LABEL DATASET METHOD COPIES WORK_MEM WORKERS RUN
{
    local schema=phase start before
    [ "$6" = 0 ] || schema=public
    before=$(wc -c <"$work/server/log")
    start=$(sql --tuples-only --no-align <<SQL | tail -n 1
SET client_min_messages = error;
SET dpngram.max_parallel_workers = $6;
SET hash_mem_multiplier = 1;
SET work_mem = '$5';
SELECT pg_backend_pid() AS pid \gset
\setenv PID :pid
\! perl "$here/watch.pl" \$PID "$work/watched" & echo \$! >"$work/watch.pid"
\if $([ "$schema" = phase ] && echo true || echo false)
SELECT phase.start(false) AS ignored \gset
\endif
SELECT clock_timestamp() AS start \gset
SELECT count(*) AS rows FROM $(scale_call "$2" "$3" "$schema") \gset
SELECT extract(epoch FROM clock_timestamp() - :'start') AS seconds \gset
\set contexts NULL
\if $([ "$schema" = phase ] && echo true || echo false)
SELECT phase.stop() AS ignored \gset
SELECT contexts / 1e6 AS contexts FROM phase.memory() \gset
\endif
\! kill \$(cat "$work/watch.pid"); while kill -0 \$(cat "$work/watch.pid") 2>/dev/null; do sleep 0.01; done
\set processor \`cut -d ' ' -f 1 "$work/watched"\`
\set pages \`cut -d ' ' -f 3 "$work/watched"\`
\echo :seconds, :processor, :contexts, :pages, :rows
SQL
    )
    IFS=, read -r seconds processor contexts pages rows <<<"$start"
    sql -c "INSERT INTO whole_call VALUES ('$1', '$3', $4, '$5', $6, $7, $seconds, $processor, $contexts, $pages, $(temp_bytes "$before"), $rows)"
    echo "$1, $3, $4 times, work_mem $5, $(($6 + 1)) processes: $(printf '%.2f' "$seconds") s"
}

# Another so many copies of the git commits.
grow() # FROM TO
{
    local copy
    for copy in $(seq "$1" "$2"); do
        sql -c "INSERT INTO grown
            WITH text AS (SELECT message, row_number() OVER (ORDER BY md5(ctid::text || '$copy')) AS i FROM git_commits),
            who AS (SELECT author, row_number() OVER () AS i FROM git_commits)
            SELECT md5(who.author || '$copy'), text.message FROM text JOIN who USING (i)"
    done
    sql -c "VACUUM ANALYZE grown"
}

growth()
{
    local copies=1 method workers run
    sql -c "CREATE UNLOGGED TABLE grown (author text, message text)" \
        -c "SELECT dp_protect('grown', 'author', 10000, 1e-2, options => '{"min_epsilon": 0}')" >/dev/null
    grow 1 1
    while :; do
        for method in dpne dpne-mr; do
            watch_call growth grown $method "$copies" "$GROWTH_MEM" 0 1
            if [ "$copies" = 8 ]; then watch_call large grown $method "$copies" 256MB 0 1; fi
            if [ "$copies" -le 8 ]; then
                for run in $(seq 1 $((copies > 2 ? 1 : 2))); do
                    for workers in 0 1; do
                        watch_call pair grown $method "$copies" 256MB $workers $run
                    done
                done
            fi
        done
        [ "$copies" -lt "$COPIES" ] || break
        grow $((copies + 1)) $((copies * 2))
        copies=$((copies * 2))
    done
    sql -c "DROP TABLE grown"
}

# The same algorithm in plain SQL, with the noise of the call.
scale_pure_sql()
{
    sql --file="$here/pure_sql.sql"
    sql -c "CREATE UNLOGGED TABLE git_tokens AS SELECT author, string_to_array(string_agg(lower(message), ' <end> '), ' ', '<end>') AS tokens
        FROM git_commits GROUP BY 1" -c "VACUUM ANALYZE git_tokens"
    measure "msnbc: dpne in pure SQL, work_mem 1 GB" "SET work_mem = '1GB';" \
        "SELECT pure_sql_dpne('msnbc', 'visitor', 'pages', 6, 10) || ' n-grams' AS result"
    measure "git: dpne in pure SQL, work_mem 1 GB" "SET work_mem = '1GB';
        SELECT max(stddev) AS sigma, min(weight) AS rho FROM $(scale_call git dpne) WHERE n = 1 \gset" \
        "SELECT pure_sql_dpne('git_tokens', 'author', 'tokens', 9, 100, 2147483647, :sigma, :rho) || ' n-grams' AS result"
    sql -c "DROP TABLE git_tokens"
}

draw_scale()
{
    mkdir -p "$FIGURES"
    sql --tuples-only --no-align --field-separator=' ' -c "SELECT method, copies, seconds, pages_mb, contexts_mb, copies * tokens / 1e6
        FROM whole_call, dataset_tokens t WHERE whole_call.dataset = 'growth' AND t.dataset = 'git' ORDER BY 1, 2" >"$FIGURES/scale_growth.dat"
    draw scale
}

scale()
{
    local dataset method workers run stage=$SECONDS
    echo
    echo "==== scale"
    build_phases
    sql -c "ALTER SYSTEM SET log_temp_files = 0" -c "SELECT pg_reload_conf()" >/dev/null
    for dataset in msnbc git; do
        for method in dpne dpne-mr; do
            break_down $dataset $method
            for run in 1 2 3; do
                for workers in 0 1; do
                    watch_call $dataset $dataset $method 1 1GB $workers $run
                done
                watch_call $dataset $dataset $method 1 4MB 0 "$run"
            done
        done
    done
    took breakdown
    growth
    took growth
    sql --file="$here/scale/tables.sql" --set=limit="$GROWTH_MEM" || status=1
    draw_scale
    scale_pure_sql
    took "pure SQL"
}
