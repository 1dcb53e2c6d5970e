# chroot.sh: bare Debians in folders, by sourcing: what tests of packages and of versions
# build, install and run in, so that nothing of this machine can help or be harmed.
#
# debootstrap makes each release once and keeps it in $bare_cache, which who sources this
# file sets; folders are unpacked from there.  A command runs in mount and process
# namespaces of its own: when it ends, however it ends, its mounts are gone and so is every
# process that it left behind.  No trap has to unmount or stop anything, and what removes a
# folder can't meet a mount in it.  A server therefore lives as long as the command that
# started it: what belongs together is one script.
#
# Needs root and debootstrap (scripts/deps.sh bare).  MIRROR names the archive, if it is not
# that of this machine's own apt.

bare_mirror()
{
    local uri
    uri=$(apt-get indextargets --format '$(SITE)' 2>/dev/null | grep -m 1 '/debian/*$' || true)
    echo "${MIRROR:-${uri:-http://deb.debian.org/debian}}"
}

bare_sources() # SUITE: its sources.list
{
    local mirror
    mirror=$(bare_mirror)
    echo "deb $mirror $1 main"
    [ "$1" = sid ] || printf 'deb %s main\n' "$mirror $1-updates" "${mirror%/}-security $1-security"
}

# Servers are started by who wants one, not by packages; and nothing here has to survive a
# loss of power.
bare_settle() # FOLDER
{
    printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
    chmod 755 "$1/usr/sbin/policy-rc.d"
    echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/unsafe-io"
    # an archive may be a snapshot, of another date than the clock's
    printf 'Acquire::Check-%s "false";\n' Valid-Until Date >"$1/etc/apt/apt.conf.d/date"
    echo 'Binary::apt::APT::Keep-Downloaded-Packages "true";' >"$1/etc/apt/apt.conf.d/keep"
}

bare_make() # SUITE FOLDER: a minimal Debian of that release in a new folder
{
    local suite=$1 folder=$2 archive=$bare_cache/$1.tar
    mkdir -p "$bare_cache/$suite.debs"
    if [ ! -e "$archive" ]; then
        debootstrap --variant=minbase "$suite" "$folder" "$(bare_mirror)" || return
        bare_sources "$suite" >"$folder/etc/apt/sources.list"
        bare_settle "$folder"
        echo "$suite" >"$folder/.suite"
        tar --numeric-owner -C "$folder" -cf "$archive.$$" . && mv "$archive.$$" "$archive"
        return
    fi
    mkdir -p "$folder"
    tar --numeric-owner -C "$folder" -xpf "$archive"
}

# PID 1 of the command's namespace: mounts what a system has, the root itself among it, for
# container tools want to remount that; waits for the command and reaps what others leave.
# A signal to it ends them all.
bare_init='
    set -e
    trap "exit 143" INT TERM HUP
    folder=$1 debs=$2
    shift 2
    mount --bind "$folder" "$folder"
    cd "$folder"
    mount -t proc proc proc
    mount -t sysfs -o ro sysfs sys
    mount --bind /dev dev
    mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts dev/pts
    mount -t tmpfs -o mode=1777 tmpfs dev/shm
    mount -t tmpfs -o mode=755 tmpfs run
    mkdir -m 1777 run/lock
    mount --bind "$debs" var/cache/apt/archives
    cp /etc/resolv.conf /etc/hosts etc/
    chroot . "$@" <&3 &
    wait $!'

bare() # FOLDER COMMAND...: runs it there as root, in a clean environment
{
    local folder=$1 debs
    shift
    debs=$bare_cache/$(cat "$folder/.suite").debs
    unshare --mount --pid --fork --kill-child env -i 3<&0 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        ${http_proxy:+http_proxy="$http_proxy"} \
        /bin/bash -c "$bare_init" init "$folder" "$debs" "$@"
}

bare_remove() # FOLDER
{
    rm -rf --one-file-system "$1"
}
