# To be sourced. with_servers <server>... -- <command>...: runs the command with throw-away servers (postgresql,
# pgbouncer, mariadb, mariadb_for_defaults, redis, durable_redis) on free loopback ports, their files in one temporary
# folder. In the environment of the command are
#
#   ROWLOCK_TEST_POSTGRESQL_URL    a database, by a role that may do everything. Where this is set already, that database is
#                                  used, no server is started, and none of the following is set.
#   ROWLOCK_TEST_POSTGRESQL_BIN    the folder of its programs: psql, pg_ctl
#   ROWLOCK_TEST_PGBOUNCER_URL     the same database through PgBouncer in transaction mode; any role and database of the
#                                  server may stand in the URL
#   ROWLOCK_TEST_MYSQL_URL         a database of MariaDB, by a role that may do everything. Where this is set already, that
#                                  database is used, of MariaDB or MySQL, and no such server is started.
#   ROWLOCK_TEST_MYSQL_DEFAULTS_URL  mariadb_for_defaults: another such server, whose global settings tests may change
#                                  while other tests use the first. Used if it is set already, too.
#   ROWLOCK_TEST_POSTGRESQL_DATA, ROWLOCK_TEST_MARIADB_DATA
#                                  fresh data folders for servers that a test has to itself, which may copy them
#   ROWLOCK_BENCH_REDIS_URL        Redis that writes nothing to the disk, as locks are kept mostly. Used if it is set
#                                  already, too.
#   ROWLOCK_BENCH_DURABLE_REDIS_URL  Redis that has every change on the disk before it answers. Likewise.
#   ROWLOCK_TEST_LOGS              the logs of the servers that were started, separated by colons
#
# Servers and command end when this shell ends, in whatever way. The shell must not have traps of its own.

servers_folder=
servers_variables=()
postgresql_pid=
postgresql_port=
pgbouncer_pid=
mariadb_pids=()
redis_pids=()
command_pid=

with_servers() {
    local servers=() status=0 server
    while [[ $1 != -- ]]; do
        servers+=("$1")
        shift
    done
    shift
    trap stop_everything EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    for server in "${servers[@]}"; do
        "start_$server" || { status=1 && break; }
    done
    if [[ $status -eq 0 ]]; then
        run_in_session "$@" || status=$?
    fi
    stop_everything
    trap - EXIT HUP INT TERM
    return "$status"
}

# In a session of its own, so that all its processes can be found when it has to end before its time, and in the
# background, because only then a trap does not wait for it; but there the shell lets SIGINT and SIGQUIT be ignored.
# Without the system's authorities, which MariaDB's library reads for each connection over TLS, in 25 ms.
run_in_session() {
    local status=0
    setsid env --default-signal=INT,QUIT SSL_CERT_FILE=/dev/null setpriv --pdeathsig TERM "$@" &
    command_pid=$!
    wait "$command_pid" || status=$?
    return "$status"
}

stop_everything() {
    trap '' HUP INT TERM
    stop_command
    stop_pgbouncer
    stop_postgresql
    stop_mariadb
    stop_redis
    [[ ${#servers_variables[@]} -eq 0 ]] || unset "${servers_variables[@]}"
    servers_variables=()
    [[ -z $servers_folder ]] || rm -rf "$servers_folder"
    servers_folder=
}

# --- processes --------------------------------------------------------------------------------------------------------

# processes_where <field> <value>: those with that value in that field of /proc/<pid>/stat, counted from the state of
# the process, without those that are dead. (ps is no part of a small Debian.)
processes_where() {
    local stat line fields
    for stat in /proc/[0-9]*/stat; do
        { read -r line <"$stat"; } 2>/dev/null || continue
        read -ra fields <<<"${line##*) }"
        [[ ${fields[$1]-} != "$2" || ${fields[0]} == Z ]] || printf '%s\n' "${line%% *}"
    done
}

is_running() {
    local line
    { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
    [[ ${line##*) } != Z* ]]
}

# end_process <pid> <signal>: and waits for its end.
end_process() {
    local pid=$1 signal=$2 i
    kill -"$signal" "$pid" 2>/dev/null || return 0
    kill -CONT "$pid" 2>/dev/null || return 0
    for ((i = 0; i < 200; ++i)); do
        is_running "$pid" || return 0
        sleep 0.05
    done
    kill -KILL "$pid" 2>/dev/null || true
}

stop_command() {
    [[ -n $command_pid ]] || return 0
    local pid session=3
    if is_running "$command_pid"; then
        end_process "$command_pid" TERM
    fi
    for pid in $(processes_where "$session" "$command_pid"); do
        kill -KILL "$pid" 2>/dev/null || true
    done
    command_pid=
}

# --- what every server needs ------------------------------------------------------------------------------------------

# start_server <folder> <log> <program>...: in the background, its pid in $!.
start_server() {
    local folder=$1 log=$2
    shift 2
    (cd "$folder" && exec setsid setpriv "${become[@]}" --pdeathsig QUIT "$@") >"$log" 2>&1 </dev/null &
}

# become_user <user>: fills $become, the arguments of setpriv. Root must not run these servers: for root it is that user
# who does.
become_user() {
    become=()
    [[ $(id -u) -ne 0 ]] || become=(--reuid "$1" --regid "$(id -gn "$1")" --init-groups)
}

# make_server_folder <name> <user>: its path in $folder.
make_server_folder() {
    if [[ -z $servers_folder ]]; then
        servers_folder=$(mktemp -d --tmpdir rowlock-servers.XXXXXX) && chmod 711 "$servers_folder" || return 1
    fi
    folder=$servers_folder/$1
    mkdir --mode=700 "$folder" || return 1
    [[ $(id -u) -ne 0 ]] || chown "$2": "$folder"
}

# Below the ports that the system hands out itself.
random_port() { echo $((20000 + RANDOM % 12000)); }

export_for_command() {
    export "$1=$2"
    servers_variables+=("$1")
}

tell_of_log() { export_for_command ROWLOCK_TEST_LOGS "${ROWLOCK_TEST_LOGS:+$ROWLOCK_TEST_LOGS:}$1"; }

# keep_fresh_data <variable>: a copy of the data folder before its server has started.
keep_fresh_data() {
    cp -a "$folder/data" "$folder/fresh"
    export_for_command "$1" "$folder/fresh"
}

# could_start <pid> <log> <query>...: 0 as soon as that command, a query, succeeds; 1 when the server has ended or does
# not answer.
could_start() {
    local pid=$1 log=$2 i
    shift 2
    for ((i = 0; i < 600; ++i)); do
        is_running "$pid" || return 1
        if "$@" >"$log.probe" 2>&1 </dev/null; then
            return 0
        fi
        sleep 0.05
    done
    cat "$log.probe" >>"$log"
    end_process "$pid" KILL
    return 1
}

# start_on_free_port <log> <function>: calls it with one port after another, until it succeeds or fails for another
# reason than that the port is taken.
start_on_free_port() {
    local log=$1 start=$2 i
    for ((i = 0; i < 10; ++i)); do
        if "$start" "$(random_port)"; then return 0; fi
        grep -qi 'address already in use' "$log" || break
    done
    echo "A server could not be started (${start#run_}). Its log:" >&2
    cat "$log" >&2
    return 1
}

# --- PostgreSQL -------------------------------------------------------------------------------------------------------

# Debian keeps the programs of the server out of PATH, in a folder for each version.
find_postgresql() {
    local newest
    newest=$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort --version-sort | tail -n 1)
    [[ -x $newest ]] || newest=$(command -v initdb) || {
        echo "PostgreSQL's initdb was not found." >&2
        return 1
    }
    postgresql_bin=$(dirname "$(realpath "$newest")")
}

start_postgresql() {
    [[ -z ${ROWLOCK_TEST_POSTGRESQL_URL-} ]] || return 0
    local folder become
    find_postgresql && become_user postgres && make_server_folder postgresql postgres || return 1
    postgresql_password=$(</proc/sys/kernel/random/uuid)
    make_postgresql_cluster && start_on_free_port "$folder.log" run_postgresql || return 1
    export_for_command ROWLOCK_TEST_POSTGRESQL_URL "$(postgresql_url "$postgresql_port")"
    export_for_command ROWLOCK_TEST_POSTGRESQL_BIN "$postgresql_bin"
    tell_of_log "$folder.log"
}

postgresql_url() { printf 'postgresql://rowlock:%s@127.0.0.1:%s/postgres' "$postgresql_password" "$1"; }

query_postgresql() {
    PGCONNECT_TIMEOUT=2 "$postgresql_bin/psql" --no-psqlrc --command 'SELECT 1' "$(postgresql_url "$1")"
}

make_postgresql_cluster() {
    printf '%s\n' "$postgresql_password" >"$folder/password"
    if ! (cd "$folder" && exec setpriv "${become[@]}" "$postgresql_bin/initdb" --pgdata=data --no-sync --encoding=UTF8 \
        --locale=C.UTF-8 --username=rowlock --pwfile=password --auth=md5) \
        >"$folder.log" 2>&1; then
        echo "PostgreSQL's initdb failed:" >&2
        cat "$folder.log" >&2
        return 1
    fi
    keep_fresh_data ROWLOCK_TEST_POSTGRESQL_DATA
    # fsync stays on: rowlock warns where it is off. Passwords are not SCRAM's, which each of thousands of connections
    # would pay for.
    cat >>"$folder/data/postgresql.conf" <<'SETTINGS'
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 700
password_encryption = md5
SETTINGS
}

# run_postgresql <port>
run_postgresql() {
    echo "port = $1" >>"$folder/data/postgresql.conf"
    start_server "$folder" "$folder.log" "$postgresql_bin/postgres" -D data
    postgresql_pid=$!
    could_start "$postgresql_pid" "$folder.log" query_postgresql "$1" && postgresql_port=$1
}

stop_postgresql() {
    [[ -z $postgresql_pid ]] || end_process "$postgresql_pid" QUIT
    postgresql_pid='' postgresql_port=''
}

# --- PgBouncer --------------------------------------------------------------------------------------------------------

start_pgbouncer() {
    [[ -n $postgresql_port ]] || return 0
    local folder become
    become_user postgres && make_server_folder pgbouncer postgres || return 1
    printf '"rowlock" "%s"\n' "$postgresql_password" >"$folder/users"
    start_on_free_port "$folder.log" run_pgbouncer || return 1
}

# run_pgbouncer <port>
run_pgbouncer() {
    cat >"$folder/pgbouncer.ini" <<SETTINGS
[databases]
* = host=127.0.0.1 port=$postgresql_port
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $1
unix_socket_dir =
pool_mode = transaction
max_client_conn = 500
default_pool_size = 20
auth_type = md5
auth_file = users
auth_user = rowlock
SETTINGS
    start_server "$folder" "$folder.log" pgbouncer pgbouncer.ini
    pgbouncer_pid=$!
    could_start "$pgbouncer_pid" "$folder.log" query_postgresql "$1" || return 1
    export_for_command ROWLOCK_TEST_PGBOUNCER_URL "$(postgresql_url "$1")"
}

stop_pgbouncer() {
    [[ -z $pgbouncer_pid ]] || end_process "$pgbouncer_pid" TERM
    pgbouncer_pid=
}

# --- MariaDB ----------------------------------------------------------------------------------------------------------

start_mariadb() { start_mariadb_as mariadb ROWLOCK_TEST_MYSQL_URL; }
start_mariadb_for_defaults() { start_mariadb_as mariadb-for-defaults ROWLOCK_TEST_MYSQL_DEFAULTS_URL; }

# start_mariadb_as <folder> <variable>: as nobody, because the packages without the service make no user.
start_mariadb_as() {
    local mariadb_variable=$2
    [[ -z ${!mariadb_variable-} ]] || return 0
    local folder become
    become_user nobody && make_server_folder "$1" nobody || return 1
    mariadb_password=$(</proc/sys/kernel/random/uuid)
    make_mariadb_files && start_on_free_port "$folder.log" run_mariadb || return 1
    tell_of_log "$folder.log"
}

make_mariadb_files() {
    # Of the roles named root, the one that is left is that of the socket.
    cat >"$folder/init" <<SETTINGS
DROP USER IF EXISTS root@'127.0.0.1', root@'::1';
CREATE DATABASE IF NOT EXISTS rowlock;
CREATE OR REPLACE USER rowlock IDENTIFIED BY '$mariadb_password';
GRANT ALL ON *.* TO rowlock WITH GRANT OPTION;
SETTINGS
    if ! (cd "$folder" && exec setpriv "${become[@]}" mariadb-install-db --no-defaults --datadir="$folder/data" \
        --tmpdir="$folder" --auth-root-authentication-method=normal --skip-test-db) >"$folder.log" 2>&1 </dev/null; then
        echo "MariaDB's mariadb-install-db failed:" >&2
        cat "$folder.log" >&2
        return 1
    fi
    keep_fresh_data ROWLOCK_TEST_MARIADB_DATA
}

# run_mariadb <port>. The path of the socket counts from the data folder: the whole of it may be too long. Temporary files
# are removed by any server that starts in the same folder.
run_mariadb() {
    PATH=$PATH:/usr/sbin start_server "$folder" "$folder.log" mariadbd --no-defaults --datadir="$folder/data" \
        --tmpdir="$folder" --init-file="$folder/init" --socket=socket --pid-file=pid --bind-address=127.0.0.1 --port="$1" \
        --skip-name-resolve --max-connections=700
    local pid=$!
    mariadb_pids+=("$pid")
    could_start "$pid" "$folder.log" query_mariadb "$1" || return 1
    export_for_command "$mariadb_variable" "mysql://rowlock:$mariadb_password@127.0.0.1:$1/rowlock"
}

query_mariadb() {
    MYSQL_PWD=$mariadb_password mariadb --no-defaults --protocol=tcp --host=127.0.0.1 --port="$1" --user=rowlock \
        --connect-timeout=2 --execute='SELECT 1' rowlock
}

stop_mariadb() {
    local pid
    for pid in "${mariadb_pids[@]}"; do end_process "$pid" TERM; done
    mariadb_pids=()
}

# --- Redis ------------------------------------------------------------------------------------------------------------

start_redis() { start_redis_as redis ROWLOCK_BENCH_REDIS_URL 'appendonly no'; }
start_durable_redis() {
    start_redis_as durable-redis ROWLOCK_BENCH_DURABLE_REDIS_URL 'appendonly yes' 'appendfsync always'
}

# start_redis_as <folder> <variable> <setting>...
start_redis_as() {
    local redis_variable=$2 redis_password
    [[ -z ${!redis_variable-} ]] || return 0
    local folder become
    become_user nobody && make_server_folder "$1" nobody || return 1
    redis_password=$(</proc/sys/kernel/random/uuid)
    printf '%s\n' 'bind 127.0.0.1' 'save ""' 'maxclients 1000' "requirepass $redis_password" "${@:3}" \
        >"$folder/settings"
    [[ $(id -u) -ne 0 ]] || chown nobody: "$folder/settings"
    chmod 600 "$folder/settings"
    start_on_free_port "$folder.log" run_redis || return 1
}

# run_redis <port>
run_redis() {
    start_server "$folder" "$folder.log" redis-server settings --port "$1"
    local pid=$!
    redis_pids+=("$pid")
    could_start "$pid" "$folder.log" query_redis "$1" || return 1
    export_for_command "$redis_variable" "redis://:$redis_password@127.0.0.1:$1"
}

query_redis() { REDISCLI_AUTH=$redis_password redis-cli -h 127.0.0.1 -p "$1" ping | grep -qx PONG; }

stop_redis() {
    local pid
    for pid in "${redis_pids[@]}"; do end_process "$pid" TERM; done
    redis_pids=()
}

# --- memory -----------------------------------------------------------------------------------------------------------

# Tests make thousands of tables, and a slow disk would have them wait for it most of the time: temporary files in memory,
# where that is large enough, programs may be started there, and nobody has said where they should be.
use_memory() {
    [[ -z ${TMPDIR-} ]] || return 0
    local folder=/dev/shm free probe
    free=$(df --output=avail --block-size=1G "$folder" 2>/dev/null | tail -n 1) && [[ $free -ge 6 ]] || return 0
    probe=$(mktemp "$folder/rowlock.XXXXXX" 2>/dev/null) || return 0
    printf '#!/bin/sh\n' >"$probe" && chmod +x "$probe"
    if "$probe" 2>/dev/null; then export TMPDIR=$folder; fi
    rm -f "$probe"
}
