#!/bin/bash
# reference.sh: make reference.  Brings doc/reference.md up to date with what a private
# server with the extension says, and with what the page's examples print there.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

make_work reference
"$MAKE" -s -C "$top" -f Makefile -j2 all
install_extension >"$work/install.log"
server_start
perl "$top/scripts/reference.pl" "$top/doc/reference.md" >"$work/reference.md"
cat "$work/reference.md" >"$top/doc/reference.md"
