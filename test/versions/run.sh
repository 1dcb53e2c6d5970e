#!/bin/bash
# run.sh: make versions.  Builds and tests the tree on the PostgreSQL of several
# releases of Debian, each in a folder of its own, and closes with a table.
#
#   test/versions/run.sh [SUITE...]         bullseye bookworm trixie sid, unless given
#
# Each is make check once more, without what doesn't depend on the server (lint, audit):
# its folder comes by scripts/chroot.sh, its packages by scripts/deps.sh, its server by
# scripts/common.sh, and this file adds only the table.
#
# It must be root, for chroot.  The folders, a gigabyte each, are kept in $VERSIONS_DIR and
# used again; remove one to have its packages anew.  SUITES="unit regress" runs only these
# in each.
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
. "$top/scripts/chroot.sh"

VERSIONS_DIR=${VERSIONS_DIR:-${TMPDIR:-/tmp}/dpngram-versions}
bare_cache=$VERSIONS_DIR
SUITES=${SUITES:-unit modules regress isolation tap}
SUITE_SECONDS=${SUITE_SECONDS:-3600}

# PostgreSQL 13, which Makefile refuses: what fails there is shown, and no failure
best_effort=bullseye

folder_of() # SUITE: its folder, made if it is missing; it gets its name when it is whole
{
    local folder=$VERSIONS_DIR/$1
    [ -d "$folder" ] && return
    bare_remove "$folder.new"
    bare_make "$1" "$folder.new" && mv "$folder.new" "$folder"
}

copy_tree() # SUITE: the files that git knows, or would
{
    local tree=$VERSIONS_DIR/$1/dpngram
    rm -rf "$tree"
    mkdir "$tree"
    (cd "$top" && git ls-files -z --cached --others --exclude-standard |
        tar --null --files-from=- --ignore-failed-read -cf -) | tar -C "$tree" -xf -
}

in_folder() # SUITE COMMAND: for the shell there, in the tree
{
    bare "$VERSIONS_DIR/$1" env SUITES="$SUITES" SUITE_SECONDS="$SUITE_SECONDS" bash -c "cd /dpngram && $2"
}

# The first make counts the compiler's warnings, the second takes them for errors.
try() # SUITE
{
    folder_of "$1" && copy_tree "$1" && in_folder "$1" "scripts/deps.sh" || return
    in_folder "$1" "make -s -k -f Makefile WERROR= all" 2>&1 | tee "$work/$1.build"
    in_folder "$1" "test/run.sh"
}

row() # SUITE: a line of the table
{
    local name
    printf '| %s | %s | %s | %s |' \
        "$(in_folder "$1" "pg_config --version" | sed 's/^PostgreSQL \([^ ]*\).*/\1/')" "$1" \
        "$(in_folder "$1" "cc --version" | sed -n '1s/^[^ ]* (.*) /gcc /p')" \
        "$(grep -q '^build failed' "$work/$1.log" && echo "not built" ||
            grep -c 'warning:' "$work/$1.build")"
    for name in unit modules regress isolation tap; do
        sed -n "s/^== $name: \([0-9]*\) passed, \([0-9]*\) failed.*/ \1 passed, \2 failed |/p" \
            "$work/$1.log" | sed 's/, 0 failed//' | grep . || echo ' - |'
    done | tr -d '\n'
    echo
}

if [ "$(id -u)" != 0 ]; then
    echo "versions: must be root, for chroot" >&2
    exit 1
fi
"$top/scripts/deps.sh" bare
[ $# -gt 0 ] || set -- bullseye bookworm trixie sid
make_work versions
status=0
for suite in "$@"; do
    echo "=== $suite"
    touch "$work/$suite.build"
    failed=0
    interruptibly try "$suite" > >(tee "$work/$suite.log") 2>&1 </dev/null || failed=1
    [ "$suite" = $best_effort ] || [ $failed = 0 ] || status=1
done

echo
echo "| PostgreSQL | Debian | compiler | warnings | unit | modules | regression | isolation | TAP |"
echo "|---|---|---|---|---|---|---|---|---|"
for suite in "$@"; do
    row "$suite"
done
exit $status
