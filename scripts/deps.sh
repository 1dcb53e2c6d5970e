#!/bin/bash
# deps.sh: installs what building and testing need and the machine lacks, by
# apt; with the argument "bench" what the benchmarks' plots need, too; with "bare" only
# what scripts/chroot.sh needs.  It looks for the things themselves first (a header, a
# program), so that it calls no package manager where all is there, and so that PG_CONFIG
# may name a PostgreSQL that no package brought.  PG_CONFIG=/usr/lib/postgresql/N/bin/pg_config
# is Debian's version N, installed if it is missing; else the distribution's own is.
set -eu

PG_CONFIG=${PG_CONFIG:-pg_config}

missing=()

need() # PACKAGE TEST...: notes the package unless the test succeeds
{
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

has_header()
{
    echo "#include <$1>" | cc -E -x c - 
}

has_server() # what PG_CONFIG names can build extensions and run a server
{
    [ -f "$("$PG_CONFIG" --pgxs)" ] &&
        [ -f "$("$PG_CONFIG" --includedir-server)/postgres.h" ] &&
        [ -x "$("$PG_CONFIG" --bindir)/postgres" ]
}

as_root()
{
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "deps: not root, and there is no sudo; as root, run: $*" >&2
        exit 1
    fi
}

apt_update()
{
    [ -n "${updated:-}" ] || as_root apt-get update -q
    updated=yes
}

server_version() # the major version that PG_CONFIG names, or behind the distribution's "postgresql"
{
    case $PG_CONFIG in
        pg_config)
            apt-cache depends --important postgresql 2>/dev/null |
                sed -n 's/^ *Depends: postgresql-\([0-9][0-9]*\)$/\1/p' | head -n 1
            ;;
        /usr/lib/postgresql/*/bin/pg_config)
            basename "${PG_CONFIG%/bin/pg_config}"
            ;;
        *)
            echo "deps: $PG_CONFIG has no server with its development files" >&2
            exit 1
            ;;
    esac
}

find_missing()
{
    need build-essential test -x "$(command -v cc)" -a -x "$(command -v make)"
    need libgsl-dev has_header gsl/gsl_cdf.h
    need libssl-dev has_header openssl/opensslv.h
    need perl command -v prove
    need libipc-run-perl perl -MIPC::Run -e 1
    need libdbd-pg-perl perl -MDBD::Pg -e 1
    case " ${SUITES:-lint} " in
        *" lint "*)
            need clang-format command -v clang-format
            need cppcheck command -v cppcheck
            ;;
    esac
    [ "${1:-}" != bench ] || need gnuplot-nox command -v gnuplot
}

# pg_cron, which a test runs: only the distribution's own server can have it so.
find_missing_of_server()
{
    case $("$PG_CONFIG" --bindir) in
        /usr/lib/postgresql/*/bin) ;;
        *) return 0 ;;
    esac
    need "postgresql-$("$PG_CONFIG" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')-cron" \
        test -f "$("$PG_CONFIG" --sharedir)/extension/pg_cron.control"
}

# Debian's server package makes and starts a cluster of its own unless told not
# to.  Nobody asked for one here; a machine that has its own word on it keeps it.
no_main_cluster()
{
    local conf=/etc/postgresql-common/createcluster.conf
    [ -e "$conf" ] && return
    as_root mkdir -p "${conf%/*}"
    echo "create_main_cluster = false" | as_root tee "$conf" >/dev/null
    echo "deps: installing PostgreSQL makes no cluster: $conf says so from now on"
}

if [ "${1:-}" = bare ]; then
    need debootstrap command -v debootstrap
    need util-linux command -v unshare
else
    find_missing "${1:-}"
fi
if [ "${1:-}" = bare ]; then
    :
elif ! has_server >/dev/null 2>&1; then
    if command -v apt-get >/dev/null; then
        version=$(server_version)
        if [ -z "$version" ]; then
            apt_update
            version=$(server_version)
        fi
        missing+=("postgresql-$version" "postgresql-server-dev-$version" "postgresql-$version-cron")
        no_main_cluster
    else
        missing+=(postgresql postgresql-server-dev)
    fi
else
    find_missing_of_server
fi

[ ${#missing[@]} -gt 0 ] || exit 0

echo "deps: missing: ${missing[*]}"
if ! command -v apt-get >/dev/null; then
    echo "deps: there is no apt-get here; install them by this system's own means" >&2
    exit 1
fi
apt_update
as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}"
