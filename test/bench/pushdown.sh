# pushdown.sh: dp_ngrams over MSNBC on three servers: the same rows as from here, seconds, and
# bytes that travel.
#
# Sourced by run.sh, which has loaded MSNBC.  The servers are private ones on this machine, so
# they share its processors; they listen on TCP, since the kernel counts what a TCP connection
# has sent and received.

PUSHDOWN_PORT=${PUSHDOWN_PORT:-65440}
pushdown_call="'visitor', 'pages', 1, 1e-7, max_length => 6, max_contributions => 10, max_tokens => 400, threshold_share => 0.5"

remote() # NUMBER psql's arguments
{
    PGHOST=127.0.0.1 PGPORT=$((PUSHDOWN_PORT + $1)) sql "${@:2}"
}

start_remote() # NUMBER
{
    local folder=$work/remote$1
    mkdir "$folder"
    own "$folder"
    as_server "$("$PG_CONFIG" --bindir)/initdb" --pgdata="$folder/data" --username=postgres --auth=trust \
        --encoding=UTF8 --locale=C.UTF-8 --no-sync >"$folder.log"
    as_server tee -a "$folder/data/postgresql.conf" >/dev/null <<CONF
listen_addresses = '127.0.0.1'
port = $((PUSHDOWN_PORT + $1))
unix_socket_directories = ''
max_wal_size = 4GB
fsync = off
CONF
    as_server "$("$PG_CONFIG" --bindir)/pg_ctl" --pgdata="$folder/data" --log="$folder/log" --wait --silent start
    remote "$1" -c 'CREATE EXTENSION dpngram' -c 'CREATE TABLE msnbc (visitor int, pages int[])'
    sql -c "CREATE SERVER remote$1 FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1',
            port '$((PUSHDOWN_PORT + $1))', dbname 'postgres', extensions 'dpngram', async_capable 'true')" \
        -c "CREATE USER MAPPING FOR CURRENT_USER SERVER remote$1 OPTIONS (user 'postgres')" \
        -c "CREATE FOREIGN TABLE spread_$1 PARTITION OF spread FOR VALUES WITH (MODULUS 3, REMAINDER $1)
            SERVER remote$1 OPTIONS (table_name 'msnbc', batch_size '10000')"
}

stop_remotes()
{
    local i
    for i in 0 1 2; do
        as_server "$("$PG_CONFIG" --bindir)/pg_ctl" --pgdata="$work/remote$i/data" --mode=immediate \
            --wait --silent stop 2>/dev/null || true
    done
}

# What this machine's connections to the servers have carried, in bytes: to them, and from them.
bytes_carried()
{
    ss -tinOH state established dst 127.0.0.1 2>/dev/null | awk -v first="$PUSHDOWN_PORT" '
        { port = $4; sub(/.*:/, "", port) }
        port >= first && port < first + 3 { for (i = 1; i <= NF; i++) {
            if ($i ~ /^bytes_sent:/) sent += substr($i, 12)
            if ($i ~ /^bytes_received:/) received += substr($i, 16) } }
        END { printf "%.2f MB sent, %.2f MB received", sent / 1e6, received / 1e6 }'
}

# One call in a session of its own, whose connections are looked at before it ends.
pushdown_measure() # LABEL RELATION METHOD OPTIONS
{
    sql --tuples-only --no-align <<SQL
SET client_min_messages = error;
SET dpngram.test_seed = 7;
SELECT clock_timestamp() AS start \gset
SELECT count(*) || ' n-grams, md5 ' || md5(string_agg(r::text, E'\n')) AS result
  FROM dp_ngrams('$2', $pushdown_call, method => '$3', options => '$4') r \gset
SELECT extract(epoch FROM clock_timestamp() - :'start'::timestamptz) AS seconds \gset
\setenv RESULT :result
\setenv SECONDS_TAKEN :seconds
\! printf '%-40s %7.2f s  %s, %s\n' '$1' "\$SECONDS_TAKEN" "\$(bash $work/bytes.sh)" "\$RESULT"
SQL
}

pushdown()
{
    local i method results
    echo
    echo "==== pushdown: MSNBC on three servers (eps 1, delta 1e-7, T 6, Delta_0 10)"
    command -v ss >/dev/null || echo "no ss: bytes are not counted"
    { declare -f bytes_carried; echo "PUSHDOWN_PORT=$PUSHDOWN_PORT bytes_carried"; } >"$work/bytes.sh"
    trap 'stop_remotes; clean_up' EXIT
    sql -c 'CREATE EXTENSION postgres_fdw' -c 'CREATE TABLE spread (visitor int, pages int[]) PARTITION BY HASH (visitor)'
    for i in 0 1 2; do start_remote $i; done
    sql -c 'INSERT INTO spread SELECT * FROM msnbc' -c "SELECT dp_protect('spread', 'visitor', 100, 1e-3)" >/dev/null
    for i in 0 1 2; do remote $i -c 'VACUUM ANALYZE msnbc'; done
    for method in dpne dpne-mr; do
        results=$(
            pushdown_measure "$method, a table here" msnbc "$method" '{"execution": "local"}'
            pushdown_measure "$method, rows read from three servers" spread "$method" '{"execution": "local"}'
            pushdown_measure "$method, counted by three servers" spread "$method" '{"execution": "pushdown"}'
        ) || status=1
        echo "$results"
        [ "$(grep -o 'md5 [0-9a-f]*' <<<"$results" | sort -u | wc -l)" = 1 ] ||
            { echo "NOT THE SAME ROWS"; status=1; }
    done
    sql -c 'DROP SERVER remote0, remote1, remote2 CASCADE' -c 'DROP TABLE spread' 2>/dev/null || true
    stop_remotes
    trap clean_up EXIT
}
