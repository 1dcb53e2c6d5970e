# tap.sh: what the scripts share that run in the bare Debians, by sourcing: one TAP line a
# check, and what a failed one printed.
set -u
number=0

check() # NAME COMMAND...: passes if the command succeeds
{
    local name=$1 output status=0
    shift
    output=$("$@" 2>&1) || status=$?
    number=$((number + 1))
    if [ "$status" = 0 ]; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        printf '%s\n' "$output" | tail -n 60 | sed 's/^/# /'
    fi
}

is() # GOT EXPECTED
{
    [ "$1" = "$2" ] || { echo "got $1, not $2"; return 1; }
}

holds() # TEXT PATTERN
{
    grep -q -- "$2" <<<"$1" || { echo "no $2 in: $1"; return 1; }
}

printed() # NAME: the commands that README.md prints under that name
{
    sed -n "/^<!-- tested: $1 -->\$/,/^\`\`\`\$/p" "/given/dpngram-$version/README.md" |
        sed '1,2d;$d;s/\<sudo //'
}

end()
{
    echo "1..$number"
}
