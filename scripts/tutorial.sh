#!/bin/bash
# tutorial.sh: make tutorial.  Runs doc/tutorial.md on a private server with PostgreSQL's
# default settings, statement by statement to read along, and compares what is answered with
# what the page prints.  "tutorial.sh --write" puts this run's outputs into the
# page, and those of the first minute into README.md.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$top/scripts/deps.sh"
make_work tutorial
echo "== Building, installing, starting a private server"
quietly build "$MAKE" -s -C "$top" -f Makefile -j2 all
quietly install install_extension
# dp_doctor would complain of a server that can lose what it wrote, and of one without workers
server_settings="fsync = on
max_worker_processes = 8"
if [ -e "$("$PG_CONFIG" --sharedir)/extension/pg_cron.control" ]; then
    server_settings+="
shared_preload_libraries = 'pg_cron'
cron.use_background_workers = on"
fi
quietly server server_start

echo "== Collecting Debian changelogs"
mkdir "$work/page"
"$top/scripts/changelogs.sh" "$work/page/changelogs.tsv"

# An unprivileged user may not enter the tree.
tar -C "$top" -cf - scripts/tutorial.pl test/t/Tutorial.pm doc README.md | tar -C "$work" -xf -
own "$work/page" "$work/doc" "$work/README.md"
cd "$work/page"
status=0
as_server perl "$work/scripts/tutorial.pl" "$@" || status=$?
if [ "${1:-}" = --write ]; then
    as_server psql --no-psqlrc --quiet <<SQL
CREATE ROLE ana;
CREATE TABLE commits (author text, package text, message text);
\\copy commits FROM 'changelogs.tsv'
SQL
    as_server perl "$work/scripts/tutorial.pl" --write ../README.md || status=$?
    cp "$work/doc/tutorial.md" "$top/doc/tutorial.md"
    cp "$work/README.md" "$top/README.md"
fi
exit $status
