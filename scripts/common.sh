# common.sh: what the scripts share, by sourcing: a folder of their own under
# /tmp, a user that PostgreSQL accepts, and a private server that is always
# stopped.
#
# PostgreSQL refuses to run as root, and an unprivileged user may not enter the
# tree (/root is 0700), so whatever a server or a test needs is copied to $work.

set -eu
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
export LC_ALL=C.UTF-8 PGCLIENTENCODING=UTF8
unset PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD PGSERVICE PGOPTIONS PGDATA
umask 022

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PG_CONFIG=${PG_CONFIG:-pg_config}
MAKE=${MAKE:-make}
export PG_CONFIG

if [ "$(id -u)" = 0 ]; then
    server_user=postgres
    id "$server_user" >/dev/null 2>&1 || server_user=nobody
else
    server_user=$(id -un)
fi

as_root() # also for an ordinary user whose PostgreSQL only root may write to
{
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

as_server() # runs a command as the user that owns the private server
{
    if [ "$(id -u)" = 0 ]; then
        runuser -u "$server_user" -- env HOME="$work/home" "$@"
    else
        env HOME="$work/home" "$@"
    fi
}

make_work() # NAME: sets $work; removed at exit unless KEEP is set
{
    work=$(mktemp -d "/tmp/dpngram-$1.XXXXXX")
    trap clean_up EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    chmod 755 "$work"
    mkdir "$work/home"
    own "$work/home"
}

own()
{
    [ "$(id -u)" != 0 ] || chown -R "$server_user:" "$@"
}

descendants() # of a process, itself included
{
    local child
    echo "$1"
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
        descendants "$child"
    done
}

# Runs a command so that a signal to this script ends it at once: bash would
# otherwise wait for it first.
interruptibly()
{
    local status=0
    ("$@") &
    child=$!
    wait "$child" || status=$?
    child=
    return $status
}

clean_up()
{
    local status=$?
    trap - EXIT
    if [ -n "${child:-}" ]; then
        # shellcheck disable=SC2046
        kill -TERM $(descendants "$child") 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    fi
    cd /
    server_stop
    if [ -n "${KEEP:-}" ]; then
        echo "kept: $work" >&2
    else
        rm -rf "$work"
    fi
    exit "$status"
}

as_installer() # a command that writes to PostgreSQL's own folders
{
    if [ -w "$("$PG_CONFIG" --pkglibdir)" ] && [ -w "$("$PG_CONFIG" --sharedir)/extension" ]; then
        "$@"
    else
        as_root env PG_CONFIG="$PG_CONFIG" "$@"
    fi
}

quietly() # NAME COMMAND...: its output only if it fails
{
    local name=$1
    shift
    "$@" >"$work/$name.log" 2>&1 && return
    cat "$work/$name.log"
    echo "$(basename "$0" .sh): $name failed"
    exit 1
}

install_extension()
{
    as_installer "$MAKE" -C "$top" -f Makefile install
}

# A server on a Unix socket only.  PGHOST and PGUSER lead there.  $server_program, if set, is
# started instead of postgres; $server_settings, if set, are further lines of its configuration.
server_start()
{
    local bindir
    bindir=$("$PG_CONFIG" --bindir)
    export PATH="$bindir:$PATH"
    mkdir "$work/server"
    own "$work/server"
    as_server "$bindir/initdb" --pgdata="$work/server/data" --username=postgres \
        --auth=trust --encoding=UTF8 --locale=C.UTF-8 --no-sync >"$work/initdb.log" 2>&1 || {
        cat "$work/initdb.log"
        return 1
    }
    as_server tee -a "$work/server/data/postgresql.conf" >/dev/null <<CONF
listen_addresses = ''
unix_socket_directories = '$work/server'
max_worker_processes = 128
wal_level = replica
fsync = off
${server_settings:-}
CONF
    server_running=yes
    as_server "$bindir/pg_ctl" --pgdata="$work/server/data" --log="$work/server/log" \
        ${server_program:+-p "$server_program"} --wait --silent start || {
        cat "$work/server/log"
        return 1
    }
    export PGHOST="$work/server" PGUSER=postgres PGDATABASE=postgres
}

server_stop()
{
    [ -n "${server_running:-}" ] || return 0
    server_running=
    as_server "$("$PG_CONFIG" --bindir)/pg_ctl" --pgdata="$work/server/data" --mode=immediate \
        --wait --silent stop || true
}
