#!/bin/bash
# image.sh: builds the container image of the Dockerfile and makes a call in it.
# buildah does it, for Docker wants a daemon; the base is a tar file of ours, under
# the official image's name and with those of its settings that the Dockerfile uses.
cd /given || exit 1
. ./tap.sh
version=$1 postgres=$2 release=$3
bin=/usr/lib/postgresql/$postgres/bin
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs

install_buildah()
{
    apt-get update -q && apt-get install -y -q --no-install-recommends buildah ca-certificates
}

import_base()
{
    local container
    container=$(buildah from scratch) &&
        buildah add -q "$container" base.tar / &&
        buildah config --env "PG_MAJOR=$postgres" --env "PATH=$PATH:$bin" "$container" &&
        buildah commit -q --rm "$container" "docker.io/library/postgres:$postgres-$release"
}

build_image()
{
    buildah bud --pull-never --build-arg "PG_MAJOR=$postgres" \
        --build-arg "DEBIAN=$release" --tag dpngram "dpngram-$version"
}

inside() # COMMAND
{
    buildah run --user postgres "$container" -- sh -c "$1"
}

no_compiler()
{
    inside '! command -v cc && ! command -v make && ! test -e /src'
}

call()
{
    holds "$(inside "cd /tmp && initdb -D data >/dev/null && pg_ctl -D data -o '-k /tmp' -l log -w start &&
        psql -X -h /tmp -d postgres -f /tmp/first_call.sql; pg_ctl -D data -m fast stop; cat log" 2>&1)" \
        '^first call: rows, and less of the budget$'
}

check "buildah" install_buildah
check "a stand-in for the official image" import_base
check "the Dockerfile builds" build_image
container=$(buildah from --pull-never dpngram)
check "the image has no compiler and no source" no_compiler
buildah copy -q "$container" first_call.sql /tmp/first_call.sql >/dev/null
check "CREATE EXTENSION, rows, and the budget goes down" call
end
