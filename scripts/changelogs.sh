#!/bin/bash
# changelogs.sh FILE: writes who wrote what in the Debian changelogs of this machine to FILE,
# one row per author, package and entry, as COPY reads it: real text of many people, for
# the demo, the tutorial and its test.
#
# Where /usr/share/doc holds too few authors (a minimal image has none), packages with long
# changelogs are downloaded and only their changelogs unpacked, into a folder of its own:
# nothing is installed.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

DOC=${DOC:-/usr/share/doc}
MIN_AUTHORS=400    # without them it is an error
ENOUGH_AUTHORS=600 # below, more are fetched: phrases come with people
PACKAGES="linux-libc-dev devscripts lintian apt x11-common debhelper debian-faq dpkg
    developers-reference reportbug debianutils tasksel debootstrap systemd-timesyncd libgmp10
    debian-goodies apt-listchanges initscripts aptitude-common apt-file sysvinit-utils
    shared-mime-info gnome-themes-extra-data discover-data ifupdown maint-guide debconf
    clang-format-14 xserver-common postgresql libgif7 base-passwd init-system-helpers libjson-c5
    python3-software-properties ssl-cert xml-core python-apt-common binutils libapparmor1
    libplexus-cipher-java libfribidi0 libalgorithm-diff-perl javascript-common libbz2-1.0
    libc-dev-bin libcryptsetup12 tzdata python3-six sqlite3 libfakeroot curl lsof patch
    libcommons-io-java gzip libtirpc-common libgc1 media-types libacl1 bc"

collect() # the changelogs under the folders given, as rows for COPY
{
    find -L "$@" -mindepth 2 -maxdepth 2 \
        \( -name changelog.Debian.gz -o -name changelog.gz \) 2>/dev/null | sort |
        perl "$top/scripts/changelogs.pl" >"$work/rows.tsv"
    authors=$(cut -f 1 "$work/rows.tsv" | sort -u | wc -l)
}

fetch_changelogs()
{
    local package available
    echo "   ($authors authors under $DOC are few; fetching more changelogs)"
    mkdir "$work/debs"
    cd "$work/debs"
    apt-get download --print-uris apt >/dev/null 2>&1 ||
        as_root apt-get update -q >/dev/null 2>&1 || return 0
    # a release may lack some of them
    # shellcheck disable=SC2086
    available=$(apt-cache show $PACKAGES 2>/dev/null | sed -n 's/^Package: //p' | sort -u)
    # shellcheck disable=SC2086
    apt-get download -q $available >/dev/null 2>&1 || true
    for package in *.deb; do
        dpkg-deb --fsys-tarfile "$package" |
            tar -xf - -C "$work" --wildcards './usr/share/doc/*/changelog*.gz' 2>/dev/null || true
    done
}

if [ $# != 1 ]; then
    echo "usage: $0 FILE" >&2
    exit 2
fi
file=$(realpath "$1")
make_work changelogs
collect "$DOC"
if [ "$authors" -lt "$ENOUGH_AUTHORS" ]; then
    fetch_changelogs
    collect "$DOC" "$work/usr/share/doc"
fi
echo "   $authors authors, $(wc -l <"$work/rows.tsv") entries"
if [ "$authors" -lt "$MIN_AUTHORS" ]; then
    echo "changelogs: fewer than $MIN_AUTHORS authors" >&2
    exit 1
fi
cat "$work/rows.tsv" >"$file"
