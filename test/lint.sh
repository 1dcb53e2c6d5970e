#!/bin/bash
# lint.sh: formatting, static analysis and the house's limits, one TAP line each.
set -u
cd "$(dirname "$0")/.." || exit 1

number=0
bad=0

check() # NAME COMMAND...: passes if the command succeeds and prints nothing
{
    local name=$1 output status=0
    shift
    output=$("$@" 2>&1) || status=$?
    number=$((number + 1))
    if [ "$status" = 0 ] && [ -z "$output" ]; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        bad=1
        printf '%s\n' "$output" | sed 's/^/# /' | head -n 60
    fi
}

mapfile -t c_files < <(find src test -name '*.[ch]' | sort)
mapfile -t sources < <(find src test scripts sql Makefile GNUmakefile .ci -type f \
    \( -name '*.[ch]' -o -name '*.sql' -o -name '*.sh' -o -name '*.p[lm]' -o -name '*akefile' \
    -o -name '*.spec' -o -name run \) | sort)

# Each release of clang-format formats a little differently; Debian 12's decides.
formatted()
{
    clang-format --version | grep -q 'version 14\.' || return 0
    clang-format --dry-run -Werror "${c_files[@]}"
}

# The server's headers stay out of sight: cppcheck would spend minutes on them.
# What it must know of their macros stands in cppcheck.h.
analysed()
{
    cppcheck --quiet --error-exitcode=1 --inline-suppr -j 2 --std=c99 --language=c \
        --enable=warning,performance,portability --suppressions-list=test/cppcheck.txt \
        --include=test/cppcheck.h -I src src
}

short_lines()
{
    for file in "${c_files[@]}"; do
        expand -t 4 "$file" | awk -v file="$file" \
            'length($0) > 100 { print file ":" NR ": longer than 100 columns" }'
    done
}

short_files()
{
    wc -l "${sources[@]}" | awk '$2 != "total" && $1 > 600 { print $2 ": longer than 600 lines" }'
}

# A function's body stands between a brace in the first column and its partner.
short_functions()
{
    awk 'FNR == 1 { start = 0 }
         /^\{/ { start = FNR }
         /^\}/ && start { if (FNR - start > 120)
                              print FILENAME ":" start ": function longer than 120 lines"
                          start = 0 }' "${c_files[@]}"
}

# Every file says in its head what it is for.
head_comments()
{
    for file in "${sources[@]}"; do
        case $file in sql/* | *.spec) continue ;; esac
        head -n 3 "$file" | grep -qE '^(/\*|#|--)' || echo "$file: no head comment"
    done
}

nothing_unfinished()
{
    ! grep -nE '\b(TODO|FIXME|XXX)\b' "${sources[@]}" | grep -v '^test/lint.sh:'
}

# Each release of gnuplot writes a little differently, too; Debian 12's decides.
redrawn()
{
    local folder
    gnuplot --version 2>/dev/null | grep -q ' 5\.4 ' || return 0
    folder=$(mktemp -d)
    cp doc/figures/*.dat "$folder"
    FIGURES=$folder test/bench/figures.sh >/dev/null
    diff --recursive --brief doc/figures "$folder"
    rm -r "$folder"
}

check "clang-format" formatted
check "cppcheck" analysed
check "lines" short_lines
check "file length" short_files
check "function length" short_functions
check "head comments" head_comments
check "nothing unfinished" nothing_unfinished
check "figures and tables" perl test/figures.pl
check "figures drawn from their data" redrawn
check "one version everywhere" perl test/release.pl
echo "1..$number"
exit "$bad"
