#!/bin/bash
# run.sh: the audits of the privacy claims, as TAP.
#
# Needs a running server (PGHOST, PGUSER: a superuser) and PG_CONFIG; builds the
# audit library, makes a database of its own and drops it.  The short form takes
# a few minutes; AUDIT=long runs the same with up to forty times the trials, in
# an hour, and expects the canaries to find 95 % of a true mu.
# SEED=0.123 repeats the random corpora of an earlier run (never its noise); TEST=rounds
# runs that part alone, after the two that the others are made with.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

PG_CONFIG=${PG_CONFIG:-pg_config}
PATH="$("$PG_CONFIG" --bindir):$PATH"
export PGOPTIONS="${PGOPTIONS:-} -c jit=off -c client_min_messages=warning -c extra_float_digits=-9"
database=dpngram_audit_$$
settings=(-v scale=1 -v power=0.8 -v corpora=3)
if [ "${AUDIT:-short}" = short ]; then
    # a broken engine may well run for ever
    PGOPTIONS="$PGOPTIONS -c statement_timeout=600s"
else
    settings=(-v scale=40 -v power=0.95 -v corpora=40)
fi
settings+=(-v seed="${SEED:-0.$RANDOM}")

# from scratch: what lies here may have been built for another server
if ! output=$("${MAKE:-make}" -f Makefile PG_CONFIG="$PG_CONFIG" clean 2>&1 &&
    "${MAKE:-make}" -f Makefile -j2 PG_CONFIG="$PG_CONFIG" all 2>&1); then
    printf '%s\n' "$output"
    echo "Bail out! the audit library does not build"
    exit 1
fi

# the server must be able to enter the folder of the library
folder=$(mktemp -d /tmp/dpngram-audit.XXXXXX)
clean_up()
{
    psql -Xq -d postgres -c "DROP DATABASE IF EXISTS $database"
    rm -rf "$folder"
}
trap clean_up EXIT
chmod 755 "$folder"
cp dpngram_audit.so "$folder"
psql -Xq -d postgres -c "CREATE DATABASE $database" || exit 1

bad=0
number=0
for part in functions definition ${TEST:-methods statistics rounds distributions sabotages}; do
    start=$SECONDS
    psql -XqAt -d "$database" -v ON_ERROR_STOP=1 -v library="$folder/dpngram_audit" \
        "${settings[@]}" -f "sql/$part.sql" 2>&1 | grep -v '^$' | tee "$folder/output"
    status=${PIPESTATUS[0]}
    ! grep -q '^not ok' "$folder/output" || bad=1
    number=$(psql -XqAt -d "$database" -c "SELECT nextval('tap_number')")
    if [ "$status" = 0 ]; then
        echo "ok $number - $part.sql ran to its end"
    else
        echo "not ok $number - $part.sql ran to its end"
        bad=1
    fi
    echo "# $part: $((SECONDS - start)) s"
done
echo "1..$number"
exit $bad
