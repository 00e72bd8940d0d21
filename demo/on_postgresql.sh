#!/bin/sh
# on_postgresql.sh <flash_sale> [<argument>...]: the sale in a schema of its own, gone afterwards, on the server of
# ROWLOCK_TEST_POSTGRESQL_URL.
set -eu
: "${ROWLOCK_TEST_POSTGRESQL_URL:?the URL of a PostgreSQL server is needed}"

schema=flash_sale_$$
server() { psql --quiet --no-psqlrc --command "$1" "$ROWLOCK_TEST_POSTGRESQL_URL"; }
server "CREATE SCHEMA $schema"
trap 'PGOPTIONS="--client-min-messages=warning" server "DROP SCHEMA $schema CASCADE"' EXIT

case $ROWLOCK_TEST_POSTGRESQL_URL in
*\?*) separator='&' ;;
*) separator='?' ;;
esac
"$@" --database "$ROWLOCK_TEST_POSTGRESQL_URL${separator}options=-csearch_path%3D$schema"
