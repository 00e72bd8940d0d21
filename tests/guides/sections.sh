#!/usr/bin/env bash
# sections.sh <page>: each ```sh block below "A section of a script", to the letter, in every shell that the page names and
# that is here. Another process has the lock, files of an earlier run are there, and the script is killed in between: what
# the block says that it does under the lock, it does only then, and what was killed leaves nothing behind. Runs in this
# folder, which is empty.
set -euo pipefail

page=$1
export ROWLOCK_DATABASE=sqlite:$PWD/locks.db
unset ROWLOCK_DATABASE_FILE
said="this section holds the lock, with the token"
job= elsewhere=
trap 'touch go; kill $job $elsewhere 2>/dev/null || true' EXIT

# block <n>
block() {
    awk -v wanted="$1" '/^## / { inside = /A section of a script/ } !inside { next }
        /^```sh$/ { is_open = 1; ++n; next } /^```/ { is_open = 0 } is_open && n == wanted' "$page"
}

fail() {
    echo "block $n, $shell: $1" >&2
    for file in out err; do sed "s/^/$file: /" "$file" >&2; done
    exit 1
}

# eventually <what> <command>...
eventually() {
    local what=$1 i
    shift
    for ((i = 0; i < 1000; ++i)); do
        ! "$@" &>/dev/null || return 0
        sleep 0.02
    done
    fail "never so: $what"
}

is_free() { rowlock run -n deploy true; }
one_waits() { rowlock waiters deploy; }
none_waits() { ! rowlock waiters deploy; }
has_said() { grep -q "$said" out; }

start() { # <text>
    : >out
    "$shell" "$strict" -c "$1" script >>out 2>err &
    job=$!
}

# The first block starts the script, which is rowlock then, unless the shell of the block has become that itself.
crash() {
    local victim=$job
    [[ $n != 1 ]] || victim=$(pgrep -x rowlock -P "$job" || echo "$job")
    kill -9 "$victim"
    wait "$job" || true
}

ends_with() { # <status> <what>
    local status=0
    wait "$job" || status=$?
    [[ $status == "$1" ]] || fail "$2: exit status $status"
}

hold_elsewhere() {
    rm -f go
    rowlock run deploy sh -c 'until [ -e go ]; do sleep 0.01; done; echo "the other is done" >>out' &
    elsewhere=$!
    eventually "held elsewhere" rowlock show deploy
}

let_go_elsewhere() {
    touch go
    wait "$elsewhere"
}

try() {
    text=$(block "$n")
    [[ $text == *"$said"* ]] || fail "no such block"

    start "$text"
    ends_with 0 "the lock is free"
    grep -Eqx "$said [0-9]{10,}.*" out || fail "it has no token"
    eventually "released after the end" is_free

    hold_elsewhere
    start "$(sed -E 's/rowlock (hold|run)/& -n/' <<<"$text")"
    ends_with 75 "held elsewhere, and it does not wait"
    ! has_said || fail "without the lock"

    start "$text"
    eventually "it waits" one_waits
    ! has_said || fail "before it had the lock"
    crash
    eventually "killed, it waits no more" none_waits

    start "$text"
    eventually "it waits" one_waits
    let_go_elsewhere
    ends_with 0 "after the other"
    [[ $(head -n 1 out) == "the other is done" ]] && has_said || fail "the order is wrong"

    start "${text/echo \"$said/kill -9 \$\$; echo \"$said}"
    wait "$job" || true
    ! has_said || fail "it should have died"
    eventually "released after a crash" is_free
}

rowlock migrate 2>/dev/null
tried=
for shell in sh dash bash zsh; do
    program=$(realpath "$(command -v "$shell" || true)" 2>/dev/null) && [[ " $tried" != *" $program "* ]] || continue
    tried+="$program "
    for strict in -u -eu; do
        for n in 1 2; do
            [[ $n$strict != 1-u ]] || continue  # a script that ends with its one command
            # As an earlier run may have left them.
            rm -rf until token
            mkfifo until
            echo 1 >token
            try
        done
    done
done
