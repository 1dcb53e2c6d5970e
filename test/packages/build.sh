#!/bin/bash
# build.sh: builds the Debian package in a bare Debian, from its declared dependencies alone.
# The tests of the build are not run by it but on the package when it is installed.  Last,
# PGXN's client installs the archive that make dist made outside, where git is.
cd /given || exit 1
. ./tap.sh
version=$1 postgres=$2 release=$3
source=dpngram-$version
deb=postgresql-$postgres-dpngram_$version-1_$(dpkg --print-architecture).deb
lib=usr/lib/postgresql/$postgres/lib
scripts=usr/share/postgresql/$postgres/extension
doc=usr/share/doc/postgresql-$postgres-dpngram

contains() # FILE...
{
    local file list
    list=$(dpkg-deb --contents "$deb")
    for file in "$@"; do holds "$list" " \./$file\$" || return; done
}

build_as_printed()
{
    cp "$source/debian/control" committed.control
    (cd "$source" && bash -ex <(printed package))
}

# The source package, too, by a user who is not root, and in a folder of another name, which
# must not show in what is built.
build_elsewhere()
{
    useradd --create-home builder && mkdir elsewhere &&
        cp "dpngram_$version.orig.tar.gz" elsewhere/ &&
        tar -C elsewhere -xf "dpngram_$version.orig.tar.gz" &&
        mv "elsewhere/$source" elsewhere/other && cp -r "$source/debian" elsewhere/other/ &&
        chown -R builder: elsewhere && cd elsewhere/other &&
        DEB_BUILD_OPTIONS="nocheck parallel=2" runuser -u builder -- \
            dpkg-buildpackage --build-profiles=nocheck --no-sign
}

# Warnings that stay: it closes no bug of Debian's, for it is not in Debian.
no_complaints()
{
    apt-get install -q lintian >/dev/null 2>&1
    runuser -u builder -- lintian --fail-on error,warning \
        --suppress-tags initial-upload-closes-no-bugs elsewhere/*.changes
}

# Debian's own way to test a package that is installed.
passes_its_tests()
{
    install -d -o builder /run/postgresql && cd elsewhere/other &&
        runuser -u builder -- debian/tests/installcheck
}

install_archive()
{
    apt-get purge -q "postgresql-$postgres-dpngram" && apt-get install -q pgxnclient &&
        bash -ex <(printed pgxn | grep -vx 'make dist') && test -f "/$lib/dpngram.so"
}

printf '%s\n' 'APT::Get::Assume-Yes "true";' 'APT::Install-Recommends "false";' \
    >/etc/apt/apt.conf.d/unattended
check "compiler and package tools" sh -c "apt-get update -q && apt-get install -q build-essential"
check "README's way to the package" build_as_printed
[ "$release" != bookworm ] ||
    check "debian/control is Debian 12's" cmp committed.control "$source/debian/control"
check "the package has the library" contains "$lib/dpngram.so"
check "the package has the scripts of all versions" contains "$scripts/dpngram.control" \
    "$scripts/dpngram--0.1.0.sql" "$scripts/dpngram--$version.sql" \
    "$scripts/dpngram--0.1.0--$version.sql"
check "the package has the manual" contains "$doc/README.md" "$doc/doc/operations.md"
check "an ordinary user builds it elsewhere" build_elsewhere
check "and gets the same, bit for bit" cmp "$deb" "elsewhere/$deb"
check "lintian finds no error and no warning" no_complaints
check "debian/tests/installcheck, against the installed package" passes_its_tests
check "PGXN's client installs the archive" install_archive
end
