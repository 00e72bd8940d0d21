# To be sourced. start_with_<database> lets the programs of the database speak to the server of the tests as its
# administrator, and $address name it, or ends this shell with 77 where there is none; end_with_<database> removes what the
# guides have made there.

# parts_of <url>: into user, password, host, port and name.
parts_of() {
    local pattern='^[a-z]+://([^:@/]+):([^@/]*)@([^:/?]+)(:([0-9]+))?/([^?]*)'
    [[ $1 =~ $pattern ]] || { echo "The URL of the server for the tests cannot be read." >&2 && exit 1; }
    user=$(decoded "${BASH_REMATCH[1]}") password=$(decoded "${BASH_REMATCH[2]}")
    host=${BASH_REMATCH[3]} port=${BASH_REMATCH[5]} name=${BASH_REMATCH[6]}
}

decoded() { printf '%b' "${1//%/\\x}"; }

no_server() {
    echo "Skipped: $1 is not set." >&2
    exit 77
}

start_with_postgresql() {
    [[ -n ${ROWLOCK_TEST_POSTGRESQL_URL-} ]] || no_server ROWLOCK_TEST_POSTGRESQL_URL
    parts_of "$ROWLOCK_TEST_POSTGRESQL_URL"
    export PGHOST=$host PGPORT=${port:-5432} PGUSER=$user PGPASSWORD=$password PGDATABASE=$name
    [[ -z ${ROWLOCK_TEST_POSTGRESQL_BIN-} ]] || PATH=$ROWLOCK_TEST_POSTGRESQL_BIN:$PATH
    address=$PGHOST:$PGPORT
}

end_with_postgresql() {
    local each
    for each in ops_locks shop; do psql -Xqc "DROP DATABASE IF EXISTS ${each}_$$ WITH (FORCE)"; done
    for each in ops_owner ops_jobs orders rowlock_app the_role; do psql -Xqc "DROP ROLE IF EXISTS ${each}_$$"; done
} 2>/dev/null

start_with_mysql() {
    [[ -n ${ROWLOCK_TEST_MYSQL_URL-} ]] || no_server ROWLOCK_TEST_MYSQL_URL
    parts_of "$ROWLOCK_TEST_MYSQL_URL"
    printf '[client]\nhost="%s"\nport=%s\nuser="%s"\npassword="%s"\nprotocol=tcp\n' \
        "$host" "${port:-3306}" "$user" "$password" >"$HOME/.my.cnf"
    address=$host:${port:-3306}
    [[ $(mysql -BNe 'SELECT VERSION()') != *MariaDB* ]] || wanted+='|sh for mariadb'
}

end_with_mysql() {
    mysql -e "DROP DATABASE IF EXISTS ops_locks_$$; DROP DATABASE IF EXISTS shop_$$"
    mysql -e "DROP USER IF EXISTS ops_owner_$$, ops_jobs_$$, orders_$$"
    mysql -e "DROP ROLE IF EXISTS rowlock_app_$$, the_role_$$"
}
