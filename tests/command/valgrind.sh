#!/usr/bin/env bash
# valgrind.sh <rowlock>: runs every verb of the command on SQLite under valgrind, which may find neither an error nor
# memory that was lost. In the full tier only: each run takes two seconds.
set -euo pipefail

[[ ${ROWLOCK_TEST_TIER-} == all ]] || exit 77

rowlock=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset ROWLOCK_DATABASE_FILE
export ROWLOCK_DATABASE=sqlite:$scratch/locks.db HOME=$scratch
found=90 failed=0

valgrind() {
    command valgrind --quiet --error-exitcode=$found --leak-check=full --errors-for-leak-kinds=definite,indirect \
        --log-file="$scratch/valgrind.%p" "$@"
}

# expect <status> <argument>...: that the command ends so.
expect() {
    local wanted=$1 status=0
    shift
    valgrind "$rowlock" "$@" >"$scratch/out" 2>&1 </dev/null || status=$?
    [[ $status != "$wanted" ]] || return 0
    failed=1
    echo "rowlock $*: exit status $status in place of $wanted" >&2
    cat "$scratch/out" "$scratch"/valgrind.* >&2
    rm -f "$scratch"/valgrind.*
}

expect 78 list # without tables
expect 0 migrate --dry-run
expect 0 migrate
expect 0 migrate --status --json
expect 0 check
expect 0 check --json
expect 0 run job true
expect 3 run --shared --note "two
lines" job sh -c 'exit 3'
expect 0 run --permits 2 --verbose job true
expect 0 run --also other --fair --lease 1s job sleep 1
expect 0 run --strategy for_update job true
expect 0 run --strategy version_cas -c true job
expect 127 run job ./nothing
expect 0 lead job true
expect 0 hold job
expect 0 sweep --once
expect 0 metrics
expect 0 metrics --output "$scratch/metrics"
expect 0 top --once
expect 0 sql
expect 0 sql --database mysql: acquire
expect 0 list
expect 1 show job
expect 1 release --force --yes job
expect 0 help run
expect 0 help --completion bash
expect 0 --version
expect 64 run --laese 5s job true
expect 64 list --database nonsense:x
expect 69 list --database "sqlite:$scratch/no/such/folder"

# One who holds, one who waits, and one who frees the lock by force, which the holder hears when it next renews.
coproc holder { valgrind "$rowlock" hold --lease 9s job 2>"$scratch/holder"; }
pid=$holder_PID
read -r token <&"${holder[0]}"
"$rowlock" run --wait 60s --note waits job true &
waiter=$!
until "$rowlock" waiters job >/dev/null; do kill -0 "$waiter"; done
expect 0 list --json
expect 0 show job
expect 0 show job --json
expect 0 waiters job
expect 0 waiters --json
expect 0 waiters --graph
expect 75 run -n job true
expect 75 hold --wait 100ms job
expect 0 release --force --yes --token "$token" job
wait "$waiter"
status=0 && wait "$pid" || status=$?
if [[ $status != 70 ]]; then
    failed=1
    echo "rowlock hold: exit status $status in place of 70" >&2
    cat "$scratch"/{holder,valgrind.*} >&2
fi

exit $failed
