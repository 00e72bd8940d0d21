#!/bin/sh
# on_mysql.sh <flash_sale> [<argument>...]: the sale in a database of its own, gone afterwards, on the server of
# ROWLOCK_TEST_MYSQL_URL, a mysql://user:password@host:port/database without escapes.
set -eu
: "${ROWLOCK_TEST_MYSQL_URL:?the URL of a MySQL or MariaDB server is needed}"

address=${ROWLOCK_TEST_MYSQL_URL#*://}
options=${address#"${address%%\?*}"}
authority=${address%%/*}
user=${authority%%@*}
place=${authority#*@}
MYSQL_PWD=${user#*:}
export MYSQL_PWD
if command -v mariadb >/dev/null; then client=mariadb; else client=mysql; fi
server() {
    "$client" --no-defaults --protocol=tcp --host="${place%:*}" --port="${place##*:}" --user="${user%%:*}" --execute="$1"
}

database=flash_sale_$$
server "CREATE DATABASE $database"
trap 'server "DROP DATABASE $database"' EXIT

"$@" --database "mysql://$authority/$database$options"
