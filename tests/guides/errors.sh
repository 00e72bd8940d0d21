#!/usr/bin/env bash
# errors.sh <folder of programs> [--rewrite]: what docs/errors.md says of wrong inputs is what the command does: each row of
# its tables is an input for sh, the exit status, and all that is printed. Inputs are run in this folder, which is empty.
# With --rewrite the rows of the page are replaced by what the command says now.
set -euo pipefail

programs=$1 mode=${2-}
page=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/docs/errors.md
export PATH=$programs:$PATH LC_ALL=C HOME=$PWD/home
unset ROWLOCK_DATABASE_FILE "${!PG@}"

prepare() {
    mkdir "$HOME" results
    cd "$HOME"
    export ROWLOCK_DATABASE=sqlite:$HOME/locks.db
    rowlock migrate
    mkdir folder
    echo "This is no database, but some lines of text, which are long enough to be looked at." >no-database
    cp no-database no-program
    : >nothing
    sqlite3 empty.db 'PRAGMA journal_mode = WAL; VACUUM' >/dev/null
    sqlite3 foreign.db 'PRAGMA journal_mode = WAL; CREATE TABLE rowlock_lock (id INTEGER PRIMARY KEY, door TEXT)' >/dev/null
    mkfifo until
    rowlock hold --note "for the page" taken <until >token &
    holder=$!
    exec {open}>until
    trap 'kill $holder 2>/dev/null || true' EXIT
    until [[ -s token ]]; do
        kill -0 $holder || exit 1
        sleep 0.02
    done
}

# What differs from one run to the next: this folder, who has the lock and since when.
as_on_the_page() {
    sed -E -e "s#${HOME//./\\.}#/home/me#g" \
        -e "s#rowlock:[^ :]+:$holder:[0-9a-z]+#rowlock:host-1:4711:x7k2#g" \
        -e 's#in [0-9.]+ ms$#in 0.2 ms#; s#SQLite [0-9.]+,#SQLite 3.40.1,#' \
        -e "s#connect to (MySQL )?server on '127.0.0.1(:1)?' \\([0-9]+\\)#connect to server on '127.0.0.1' (115)#" |
        sed -e 's#|#\\|#g' -e 's#.*#`&`#' | paste -sd '~' | sed 's#~`#<br>`#g'
}

# row <input>: as the page should have it.
row() {
    local status=0 said
    said=$(timeout 20 sh -c "${1//\\|/|}" 2>&1 </dev/null {open}>&-) || status=$?
    said=$([[ -z $said ]] || as_on_the_page <<<"$said")
    echo "| \`$1\` | $status | ${said:-nothing} |"
}

rows=0
prepare 2>/dev/null
as_said=$HOME/../results/errors.md
while IFS= read -r line; do
    if [[ $line =~ ^\|\ \`([^\`]+)\`\ \|\  ]]; then
        row "${BASH_REMATCH[1]}"
        rows=$((rows + 1))
    else
        printf '%s\n' "$line"
    fi
done <"$page" >"$as_said"

if [[ $mode == --rewrite ]]; then
    cp "$as_said" "$page"
    exit
fi
diff -u "$page" "$as_said" || {
    echo "The page differs from what the command says; read it, and run tests/guides/errors.sh with --rewrite." >&2
    exit 1
}
((rows >= 100)) || { echo "The page has $rows inputs, and should have 100." >&2 && exit 1; }
! grep -E '^\| `[^`]+` \| 0 \|' "$page" || { echo "These inputs are not wrong." >&2 && exit 1; }
