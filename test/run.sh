#!/bin/bash
# run.sh: make check.  Installs what is missing, builds, lints, installs, runs
# every test suite against private servers, and closes with "N passed, N failed".
# A suite that crashes, runs out of time or counts no test is a failure.
#
# KEEP=1 keeps the folder with the logs.  SUITES="unit regress" runs only these, and
# TEST=set_union of them that one test.
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"

# In continuous integration the unit tests run under the sanitizers, too.
SUITES=${SUITES:-lint unit ${CI:+sanitize} modules regress isolation tap audit}
SUITE_SECONDS=${SUITE_SECONDS:-1200}

passed=0
failed=0

step() # a preparation without which nothing can be tested
{
    local name=$1
    shift
    echo "== $name"
    "$@" >"$work/$name.log" 2>&1 && return
    tail -n 200 "$work/$name.log"
    echo "$name failed"
    echo "0 passed, 1 failed"
    exit 1
}

build_all()
{
    local module
    "$MAKE" -s -C "$top" -f Makefile -j2 all || return
    for module in "$top"/test/modules/*/; do
        "$MAKE" -s -C "$module" -j2 all || return
    done
}

# What a failed suite has to say: its own output, then the diffs and logs beside it.
show_failure()
{
    local name=$1
    echo "-- output of $name"
    tail -n 300 "$work/$name.log"
    find "$tree" \( -name regression.diffs -o -path '*/log/*' -name 'regress_log_*' \) \
        -newer "$work/$name.start" -size +0 | while read -r file; do
        echo "-- ${file#"$tree"/}"
        tail -n 300 "$file"
    done
}

suite() # NAME COMMAND...: runs it, counts its tests, adds them up
{
    local name=$1 status=0 ok bad start=$SECONDS
    shift
    case " $SUITES " in *" $name "*) ;; *) return 0 ;; esac
    touch "$work/$name.start"
    interruptibly "$@" >"$work/$name.log" 2>&1 </dev/null || status=$?
    read -r ok bad < <(perl "$top/test/count.pl" "$work/$name.log")
    if [ $((ok + bad)) = 0 ] || { [ "$status" != 0 ] && [ "$bad" = 0 ]; }; then
        echo "$name: exit code $status after $ok tests" >>"$work/$name.log"
        bad=$((bad + 1))
    fi
    [ "$bad" = 0 ] || show_failure "$name"
    echo "== $name: $ok passed, $bad failed ($((SECONDS - start)) s)"
    grep -iE '^(not )?ok .*# skip|\.\. skipped: ' "$work/$name.log" | sed 's/^/   skipped: /' || true
    passed=$((passed + ok))
    failed=$((failed + bad))
}

in_tree() # a command in the copied tree, as the user that owns it, in bounded time
{
    cd "$tree"
    as_server timeout --kill-after=20 "$SUITE_SECONDS" "$@"
}

unit() # TARGET
{
    in_tree "$MAKE" -C test/unit "$1" PG_CONFIG="$PG_CONFIG"
}

installcheck() # KIND: regress or isolation, against the private server
{
    local other=ISOLATION=
    local only=REGRESS
    [ "$1" = regress ] || { other=REGRESS= && only=ISOLATION; }
    in_tree "$MAKE" -f Makefile installcheck "$other" ${TEST:+"$only=$TEST"} PG_CONFIG="$PG_CONFIG"
}

# Test modules are loaded from the folders where they were built, never installed.
modules()
{
    local module status=0
    for module in test/modules/${TEST:-*}/; do
        in_tree "$MAKE" -C "$module" installcheck PG_CONFIG="$PG_CONFIG" || status=1
    done
    return $status
}

# As PGXS's prove_installcheck does, for every version's habits: up to 15 the
# modules take TESTDIR, from 16 on TESTDATADIR and TESTLOGDIR.
tap()
{
    local pgxs tmp="$work/tmp"
    mkdir "$tmp"
    own "$tmp"
    pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")/..
    cd "$tree"
    in_tree env -u PGHOST -u PGUSER -u PGDATABASE \
        PATH="$("$PG_CONFIG" --bindir):$PATH" PG_REGRESS="$pgxs/test/regress/pg_regress" \
        TMPDIR="$tmp" PERL5LIB="$tree/test/t:$pgxs/test/perl" PGPORT=65432 \
        TESTDIR="$tree" TESTDATADIR="$tree/tmp_check" TESTLOGDIR="$tree/tmp_check/log" \
        prove --verbose --timer test/t/${TEST:-*}.pl
}

audit()
{
    in_tree test/audit/run.sh
}

# A crashed backend can hide behind a test that expected an error.
server_log()
{
    if grep -E 'was terminated by signal|PANIC:|TRAP:' "$work/server/log"; then
        echo "not ok 1 - the server never crashed"
    else
        echo "ok 1 - the server never crashed"
    fi
}

"$top/scripts/deps.sh"
make_work check
tree=$work/tree

step build build_all
step install install_extension
mkdir "$tree"
tar -C "$top" --exclude=./.git -cf - . | tar -C "$tree" -xf -
own "$tree"
step start server_start

suite lint "$top/test/lint.sh"
suite unit unit check
suite sanitize unit sanitize
suite modules modules
suite regress installcheck regress
suite isolation installcheck isolation
case " $SUITES " in
    *" tap "*)
        step texts "$top/scripts/changelogs.sh" "$work/changelogs.tsv"
        export CHANGELOGS="$work/changelogs.tsv"
        ;;
esac
suite tap tap
suite audit audit
SUITES="$SUITES server"
suite server server_log

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
