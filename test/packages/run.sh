#!/bin/bash
# run.sh: make package-check.  Builds the Debian package in a bare Debian 12, installs it by
# apt in a second one and uses it there, and builds the container image in a third: none of
# them has anything of this project but what it is given, so what a package forgets to
# contain, or to depend on, is missing.  The commands are those of README.md.
#
# What is packaged is the last commit.  Downloads are kept in PACKAGES_DIR.  Needs root.
# STAGES="build use image" runs only these; KEEP=1 keeps the folders.  RELEASE=trixie
# POSTGRES=17 is another Debian, with the server that it has.
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
. "$top/scripts/chroot.sh"

PACKAGES_DIR=${PACKAGES_DIR:-${TMPDIR:-/tmp}/dpngram-packages}
STAGES=${STAGES:-build use image}
bare_cache=$PACKAGES_DIR/cache
release=${RELEASE:-bookworm}
postgres=${POSTGRES:-15}
version=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" "$top/dpngram.control")

prepare() # NAME: a bare Debian in $work with the scripts and the last commit in /given
{
    local given=$work/$1/given
    bare_make "$release" "$work/$1"
    mkdir "$given"
    cp "$top"/test/packages/*.s* "$given"
    git -C "$top" archive --prefix="dpngram-$version/" HEAD | tar -C "$given" -xf -
    "$MAKE" -s -C "$top" dist
    mv "$top/dpngram-$version.tar.gz" "$given/dpngram_$version.orig.tar.gz"
    mv "$top/dpngram-$version.zip" "$given"
}

stage() # NAME SCRIPT...
{
    local name=$1
    shift
    case " $STAGES " in *" $name "*) ;; *) return 0 ;; esac
    echo "== $name"
    prepare "$name" >"$work/$name.log" 2>&1 || {
        cat "$work/$name.log"
        echo "not ok 1 - a bare Debian $release"
        return
    }
    "$@"
}

inside() # NAME: runs the script of that name in the folder of that name
{
    local name=$1
    bare "$work/$name" bash "/given/$name.sh" "$version" "$postgres" "$release" ||
        echo "not ok 1 - $name.sh: exit code $?"
}

# The packages go from where they were built to where they are kept and used.
build()
{
    inside build
    rm -rf "$PACKAGES_DIR/debs"
    mkdir "$PACKAGES_DIR/debs"
    cp "$work"/build/given/*.deb "$PACKAGES_DIR/debs"
}

use()
{
    cp "$PACKAGES_DIR"/debs/*.deb "$work/use/given"
    inside use
}

# Here the official image can't be had, so its place is taken by a Debian with the
# same release's own server, whose folders are the same.  It lacks the official entry
# point, and this test doesn't use it.
image()
{
    bare_make "$release" "$work/base" >"$work/base.log" 2>&1
    bare "$work/base" sh -c "apt-get update -q &&
        apt-get install -y -q --no-install-recommends postgresql-$postgres" >>"$work/base.log" 2>&1
    tar --numeric-owner -C "$work/base" -cf "$work/image/given/base.tar" .
    bare_remove "$work/base"
    inside image
}

run_stages()
{
    {
        stage build build
        stage use use
        stage image image
    } 2>&1 | tee "$work/log"
}

[ "$(id -u)" = 0 ] || { echo "run.sh: makes and enters folders of its own: run it as root"; exit 1; }
"$top/scripts/deps.sh" bare
mkdir -p "$bare_cache"
make_work packages
interruptibly run_stages
read -r passed failed < <(perl "$top/test/count.pl" "$work/log")
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
