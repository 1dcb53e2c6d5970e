#!/bin/bash
# use.sh: the Debian package from a user's side: installed by apt, used by owner and analyst,
# removed, installed again and purged, while the ledger in the cluster stays what it is.
cd /given || exit 1
. ./tap.sh
version=$1 postgres=$2
package=postgresql-$postgres-dpngram
ledger="SELECT md5(string_agg(r::text, ' ' ORDER BY r.id)), count(*) FROM dpngram.release r"
remaining="SELECT remaining_epsilon FROM dpngram.budget WHERE grantee IS NULL"
call="SELECT count(*) FROM dp_ngrams('archive.notes', 'author', 'message', 1, 1e-8)"

apt_get()
{
    apt-get -y -q --no-install-recommends "$@"
}

sql() # DATABASE COMMAND...
{
    local database=$1
    shift
    runuser -u postgres -- psql -XAtq -v ON_ERROR_STOP=1 -d "$database" "$@" 2>&1
}

installed()
{
    holds "$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@")" " installed"
}

create() # DATABASE VERSION: a new database with the extension
{
    runuser -u postgres -- createdb "$1" &&
        sql "$1" -c "CREATE EXTENSION dpngram VERSION '$2'" &&
        is "$(sql "$1" -c "SELECT extversion FROM pg_extension WHERE extname = 'dpngram'")" "$2"
}

first_call()
{
    holds "$(sql app -f /given/first_call.sql)" '^first call: rows, and less of the budget$'
}

analyst() # COMMAND
{
    sql app -c "SET SESSION AUTHORIZATION ana" -c "$1"
}

another_call_costs()
{
    local before after rows
    before=$(sql app -c "$remaining")
    rows=$(analyst "$call") || { echo "$rows"; return 1; }
    after=$(sql app -c "$remaining")
    [ "$rows" -gt 0 ] && awk "BEGIN { exit !($after < $before) }"
}

update_from_old()
{
    sql old -c "CREATE TABLE t (u text, x text)" &&
        holds "$(sql old -c "SELECT dp_protect('t', 'u', 1, 1e-6)")" 'ALTER EXTENSION' &&
        sql old -c "ALTER EXTENSION dpngram UPDATE" &&
        is "$(sql old -c "SELECT extversion FROM pg_extension WHERE extname = 'dpngram'")" \
            "$version" &&
        holds "$(sql old -f /given/first_call.sql)" '^first call: rows'
}

# Without its library the ledger can be read, and nothing can be spent of it.
only_the_ledger_is_left()
{
    installed "$package" && return 1
    is "$(sql app -c "$ledger")" "$1" && holds "$(analyst "$call")" 'could not access file'
}

nothing_is_left()
{
    is "$(find /usr /etc /var/lib/dpkg/info -name '*dpngram*')" "" && is "$(sql app -c "$ledger")" "$1"
}

check "apt lists" apt_get update
check "apt install ./$package" apt_get install "./${package}_"*.deb
check "apt brought the server and the GNU Scientific Library" installed \
    "postgresql-$postgres" 'libgsl[0-9]*'
check "the cluster that came with the server starts" pg_ctlcluster "$postgres" main start
check "CREATE EXTENSION" create app "$version"
check "an owner protects, an analyst gets rows, and the budget goes down" first_call
check "CREATE EXTENSION VERSION '0.1.0'" create old 0.1.0
check "ALTER EXTENSION UPDATE" update_from_old
before=$(sql app -c "$ledger")
check "apt remove" apt_get remove "$package"
check "the ledger is left, and no way to spend" only_the_ledger_is_left "$before"
check "apt install again" apt_get install "./${package}_"*.deb
check "the ledger is the same as before" is "$(sql app -c "$ledger")" "$before"
check "and calls cost again" another_call_costs
before=$(sql app -c "$ledger")
check "apt purge" apt_get purge "$package"
check "no file is left, and the ledger is" nothing_is_left "$before"
end
