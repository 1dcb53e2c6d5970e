#!/bin/bash
# demo.sh: make demo.  Protects the Debian changelogs that this machine holds, in a
# private server, and lets an analyst who can't read them see their common phrases; then collects
# words from clients who show them to nobody.
#
# Where /usr/share/doc holds too few authors (a minimal image has none), packages
# with long changelogs are downloaded and only their changelogs unpacked, into the
# demo's own folder: nothing but the build's dependencies is installed.
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

quietly() # NAME COMMAND...: its output only if it fails
{
    local name=$1
    shift
    "$@" >"$work/$name.log" 2>&1 && return
    cat "$work/$name.log"
    echo "demo: $name failed"
    exit 1
}

collect() # the changelogs under the folders given, as rows for COPY
{
    find -L "$@" -mindepth 2 -maxdepth 2 \
        \( -name changelog.Debian.gz -o -name changelog.gz \) 2>/dev/null | sort |
        perl "$top/scripts/changelogs.pl" >"$work/rows.tsv"
    authors=$(cut -f 1 "$work/rows.tsv" | sort -u | wc -l)
}

fetch_changelogs()
{
    local package
    echo "   ($authors authors under $DOC are few; fetching more changelogs)"
    mkdir "$work/debs"
    cd "$work/debs"
    apt-get download --print-uris apt >/dev/null 2>&1 || as_root apt-get update -q >/dev/null
    for package in $PACKAGES; do
        # a release may lack one of them
        apt-get download -q "$package" >/dev/null 2>&1 || continue
        dpkg-deb --fsys-tarfile "$package"_*.deb |
            tar -xf - -C "$work" --wildcards './usr/share/doc/*/changelog*.gz' 2>/dev/null || true
        rm -f "$package"_*.deb
    done
    cd "$top"
}

"$top/scripts/deps.sh"
make_work demo
echo "== Building, installing, starting a private server"
quietly build "$MAKE" -s -C "$top" -f Makefile -j2 all
quietly install install_extension
quietly server server_start

echo "== Collecting Debian changelogs"
collect "$DOC"
if [ "$authors" -lt "$ENOUGH_AUTHORS" ]; then
    fetch_changelogs
    collect "$DOC" "$work/usr/share/doc"
fi
echo "   $authors authors, $(wc -l <"$work/rows.tsv") entries"
if [ "$authors" -lt "$MIN_AUTHORS" ]; then
    echo "demo: fewer than $MIN_AUTHORS authors"
    exit 1
fi

as_server psql --no-psqlrc --quiet --set=rows="$work/rows.tsv" <"$top/scripts/demo.sql" 2>&1

# lower-case words of four letters and more, each of which stands for a client
cut -f 2- "$work/rows.tsv" | perl -ne 'print "$1\n" while /(?<!\S)([a-z]{4,10})(?!\S)/g' |
    sed 200000q >"$work/words.txt"
cd "$work"
as_server psql --no-psqlrc --quiet <"$top/scripts/demo_local.sql" 2>&1
