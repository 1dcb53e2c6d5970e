# Dockerfile: the official PostgreSQL image with dpngram in it.
#
#   docker build --build-arg PG_MAJOR=15 --tag dpngram .
#   docker run --env POSTGRES_PASSWORD=... dpngram
#
# Built in a stage of its own, so that the image gets the libraries, the control file and
# the scripts, and no compiler.

ARG PG_MAJOR=15
ARG DEBIAN=bookworm

FROM postgres:${PG_MAJOR}-${DEBIAN} AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        build-essential libgsl-dev "postgresql-server-dev-$PG_MAJOR"
COPY . /src
# the base's compiler may warn of more than ours: that is for its users no error
RUN make --directory=/src --file=Makefile WERROR= \
        PG_CONFIG="/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" \
        DESTDIR=/out all install

FROM postgres:${PG_MAJOR}-${DEBIAN}
# the GNU Scientific Library: its package is named after its version, one in each Debian
RUN apt-get update \
    && apt-get install --yes --no-install-recommends '^libgsl[0-9]+$' \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /out /
