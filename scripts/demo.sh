#!/bin/bash
# demo.sh: make demo.  Protects the Debian changelogs that this machine holds, in a
# private server, and lets an analyst who can't read them see their common phrases; then collects
# words from clients who show them to nobody.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$top/scripts/deps.sh"
make_work demo
echo "== Building, installing, starting a private server"
quietly build "$MAKE" -s -C "$top" -f Makefile -j2 all
quietly install install_extension
quietly server server_start

echo "== Collecting Debian changelogs"
"$top/scripts/changelogs.sh" "$work/rows.tsv"

as_server psql --no-psqlrc --quiet --set=rows="$work/rows.tsv" <"$top/scripts/demo.sql" 2>&1

# lower-case words of four letters and more, each of which stands for a client
cut -f 3- "$work/rows.tsv" | perl -ne 'print "$1\n" while /(?<!\S)([a-z]{4,10})(?!\S)/g' |
    sed 200000q >"$work/words.txt"
cd "$work"
as_server psql --no-psqlrc --quiet <"$top/scripts/demo_local.sql" 2>&1
