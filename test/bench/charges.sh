#!/bin/bash
# charges.sh: what a charge costs, and how many there are in a second with 64 clients.
#
# Called by run.sh, which has the server running and the environment set: PGHOST and
# so on; $1 is a folder that the server's user can read.  Each run is CHARGE_SECONDS
# long.  Afterwards the ledger must be as it should: exit code 1 if it is not.
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1
seconds=${CHARGE_SECONDS:-60}
clients=64
status=0

sql()
{
    psql --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 "$@"
}

must() # WHAT EXPECTED SQL: its only value must be as expected
{
    local value
    value=$(sql -c "$3")
    if [ "$value" = "$2" ]; then
        echo "ok: $1"
    else
        echo "NOT OK: $1: $value, expected $2"
        status=1
    fi
}

# A debit waits for its flush, so the disk counts: other parts run without it.
prepare()
{
    "${MAKE:-make}" -s -C "$top/test/modules/ledger_test" all
    cp "$top/test/modules/ledger_test/ledger_test.so" "$folder/"
    chmod 755 "$folder/ledger_test.so"
    sql -c "ALTER SYSTEM SET fsync = on" -c "SELECT pg_reload_conf()" >/dev/null
    sql >/dev/null 2>&1 <<SQL
SET client_min_messages = warning;
CREATE FUNCTION ledger_charge(relation regclass, prices float8[], seconds float8 DEFAULT 0,
    outcome text DEFAULT 'charged', parameters text DEFAULT '{}') RETURNS integer
AS '$folder/ledger_test', 'ledger_test_charge' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
CREATE FUNCTION nothing(relation regclass, prices float8[]) RETURNS integer
LANGUAGE plpgsql VOLATILE AS \$\$ BEGIN RETURN 1; END \$\$;
CREATE FUNCTION charged(relation regclass, price float8) RETURNS boolean LANGUAGE plpgsql AS
\$\$ BEGIN
    PERFORM ledger_charge(relation, ARRAY[0, price, 0]);
    RETURN true;
EXCEPTION WHEN SQLSTATE 'NG001' THEN
    RETURN false;
END \$\$;
CREATE TABLE charges_one (who int);
CREATE TABLE charges_short (who int);
CREATE TABLE answered (relation text);
SELECT dp_protect('charges_one', 'who', 1e9, 0, options => '{"min_epsilon": 0}');
SELECT dp_protect('charges_short', 'who', 2, 0);
DO \$\$ BEGIN
    FOR i IN 0 .. $clients - 1 LOOP
        EXECUTE format('CREATE TABLE charges_many%s (who int)', i);
        PERFORM dp_protect(format('charges_many%s', i)::regclass, 'who', 1e9, 0, options => '{"min_epsilon": 0}');
    END LOOP;
END \$\$;
SQL
}

# Milliseconds of a statement: the mean of 500 by one client.
latency() # STATEMENT
{
    echo "$1;" >"$folder/latency.sql"
    pgbench --no-vacuum --client=1 --transactions=500 --file="$folder/latency.sql" 2>/dev/null |
        sed -n 's/^latency average = \(.*\) ms$/\1/p'
}

cost()
{
    local charge nothing
    latency "SELECT ledger_charge('charges_one', '{0,0.01,0}')" >/dev/null
    charge=$(latency "SELECT ledger_charge('charges_one', '{0,0.01,0}')")
    nothing=$(latency "SELECT nothing('charges_one', '{0,0.01,0}')")
    awk -v charge="$charge" -v nothing="$nothing" 'BEGIN {
        printf "one client: %.2f ms a charge (%.2f ms for a call, %.2f ms for an empty function)\n",
            charge - nothing, charge, nothing }'
}

throughput() # LABEL SECONDS SCRIPT
{
    echo "$3" >"$folder/throughput.sql"
    pgbench --no-vacuum --client="$clients" --jobs=2 --time="$2" --file="$folder/throughput.sql" \
        >"$folder/throughput.out" 2>"$folder/throughput.err" || {
        tail -n 5 "$folder/throughput.err"
        status=1
    }
    printf '%s: %s calls a second\n' "$1" \
        "$(sed -n 's/^tps = \([0-9]*\).*/\1/p' "$folder/throughput.out")"
}

verify()
{
    must "every dataset's log adds up to what it spent" t \
        "SELECT bool_and(d.eps_pure_spent = r.spent) FROM dpngram.dataset d JOIN
         (SELECT dataset, sum(eps_pure) AS spent FROM dpngram.release GROUP BY dataset) r ON r.dataset = d.id"
    must "no dataset is overdrawn" 0 \
        "SELECT count(*) FROM dpngram.dataset WHERE eps_pure_spent > eps_pure_cap"
    must "the small budget gave what it holds" "$(sql -c \
        "SELECT floor(eps_pure_cap / (SELECT max(eps_pure) FROM dpngram.release r WHERE r.dataset = d.id))
         FROM dpngram.dataset d WHERE name = 'charges_short'")" "SELECT count(*) FROM answered"
    must "no deadlock" 0 "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    must "no worker is left" 0 \
        "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'dpngram%'"
}

workers_gone() # waits at most ten seconds for the last workers to end
{
    for _ in $(seq 100); do
        [ "$(sql -c "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'dpngram%'")" = 0 ] && return
        sleep 0.1
    done
}

echo
echo "==== charges (fsync is on; $(nproc) processors)"
prepare
cost
throughput "$clients clients, one dataset, $seconds s" "$seconds" \
    "SELECT ledger_charge('charges_one', '{0,0.01,0}');"
throughput "$clients clients, $clients datasets, $seconds s" "$seconds" \
    "SELECT ledger_charge('charges_many:client_id', '{0,0.01,0}');"
throughput "$clients clients, a budget that runs out, 10 s" 10 \
    "INSERT INTO answered SELECT 'charges_short' WHERE charged('charges_short', 0.01);"
sql -c "DO \$\$ BEGIN
    WHILE charged('charges_short', 0.01) LOOP INSERT INTO answered VALUES ('charges_short'); END LOOP;
    END \$\$"
workers_gone
verify
sql -c "ALTER SYSTEM RESET fsync" -c "SELECT pg_reload_conf()" >/dev/null
exit "$status"
