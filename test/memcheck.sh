#!/bin/bash
# memcheck.sh: make memcheck.  The regression tests on a server that watches memory: the
# extension under AddressSanitizer and UBSan, and then the whole server under Valgrind.
#
# The two see different things.  The sanitizers know of the extension's own variables and
# what C leaves undefined, and take minutes.  Valgrind knows whether a byte was ever
# written, and, in a server built with USE_VALGRIND, where a palloc'd chunk ends and
# whether it was freed; that takes most of an hour.  So the server must be built for it:
#
#   ./configure --enable-cassert --enable-debug --with-icu --prefix=... \
#       CPPFLAGS="-DUSE_VALGRIND -DCLOBBER_FREED_MEMORY" CFLAGS="-Og -fno-omit-frame-pointer"
#   make install && make -C contrib install
#   make memcheck PG_CONFIG=.../bin/pg_config PG_SOURCE=...
#
# PG_SOURCE is that source, of which the list of errors is taken that are none.
# MEMCHECK="sanitizers valgrind" runs one of them, TESTS="ngrams rounds" some of the tests.
#
# Valgrind computes long double in 64 bits, so last digits of some expected results differ
# there; the tests' own verdicts count under the sanitizers only.
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"

MEMCHECK=${MEMCHECK:-sanitizers valgrind}
TESTS=${TESTS:-$(sed -n 's/^REGRESS = //p' "$top/Makefile")}
suppressions=${PG_SOURCE:+$PG_SOURCE/src/tools/valgrind.supp}
status=0

case $("$PG_CONFIG" --cppflags) in
    *USE_VALGRIND*) ;;
    *) echo "$PG_CONFIG is of a server that was not built with USE_VALGRIND"; exit 1 ;;
esac

# a program that pg_ctl starts for the server
program() # PREFIX
{
    local reports=$work/$1.reports
    mkdir "$reports"
    own "$reports"
    echo '#!/bin/sh'
    if [ "$1" = sanitizers ]; then
        echo "export LD_PRELOAD=$(gcc -print-file-name=libasan.so)"
        echo "export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1"
        echo "exec $("$PG_CONFIG" --bindir)/postgres \"\$@\""
    else
        echo "exec valgrind --quiet --leak-check=no --num-callers=30 --trace-children=yes" \
            "--fullpath-after= ${suppressions:+--suppressions=$suppressions}" \
            "--log-file=$reports/%p $("$PG_CONFIG" --bindir)/postgres \"\$@\""
    fi
}

build() # FLAGS
{
    "$MAKE" -s -C "$tree" -f Makefile clean
    "$MAKE" -s -C "$tree" -f Makefile -j2 all COPT="-O1 -g -fno-omit-frame-pointer $1"
    as_installer "$MAKE" -s -C "$tree" -f Makefile install
}

# What was found: the sanitizers, which know only our code, say so in the server's log; of
# Valgrind's reports those are ours that have one of our files on their stacks.
judge() # PREFIX
{
    local reports=$work/$1.reports found
    if [ "$1" = sanitizers ]; then
        found='runtime error: |ERROR: AddressSanitizer'
        grep -E -A 20 "$found" "$work/server/log" >"$work/$1.errors" || true
    else
        found="$tree/src/"
        find "$reports" -type f -size +0 -exec cat {} + >"$work/$1.errors"
    fi
    cat "$work/$1.errors"
    if grep -Eq "$found" "$work/$1.errors"; then
        echo "not ok - $1: errors in our code"
        status=1
    else
        echo "ok - $1: no error in our code"
    fi
}

check() # PREFIX FLAGS
{
    case " $MEMCHECK " in *" $1 "*) ;; *) return 0 ;; esac
    build "$2" >"$work/$1.build" 2>&1 || { cat "$work/$1.build"; exit 1; }
    program "$1" >"$work/$1.sh"
    chmod 755 "$work/$1.sh"
    server_program=$work/$1.sh server_start
    # shellcheck disable=SC2086
    (cd "$tree" && "$(dirname "$("$PG_CONFIG" --pgxs)")/../test/regress/pg_regress" --inputdir=. \
        --outputdir="$work/$1.reports" --bindir="$("$PG_CONFIG" --bindir)" \
        --dbname=contrib_regression $TESTS) || [ "$1" = valgrind ] || status=1
    server_stop
    rm -rf "$work/$1.reports"/{results,regression.*}
    judge "$1"
    rm -rf "$work/server"
}

make_work memcheck
tree=$work/tree
mkdir "$tree"
tar -C "$top" --exclude=./.git --exclude='*.o' --exclude='*.so' -cf - . | tar -C "$tree" -xf -
own "$tree"
check sanitizers "-fsanitize=address,undefined -fno-sanitize=alignment"
check valgrind ""
exit "$status"
