#!/usr/bin/env bash
# errors.sh <folder of programs> [--rewrite]: what docs/errors.md says of wrong inputs, and wrong_inputs.md of their
# variants, is what the command does: each row of the tables is an input for sh, the exit status, and all that is printed.
# Inputs are run in this folder, which is empty. With --rewrite the rows are replaced by what the command says now.
set -euo pipefail

programs=$1 mode=${2-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
pages=("${here%/tests/guides}/docs/errors.md" "$here/wrong_inputs.md")
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

# replayed <page>: with what the command says now.
replayed() {
    while IFS= read -r line; do
        if [[ $line =~ ^\|\ \`([^\`]+)\`\ \|\  ]]; then row "${BASH_REMATCH[1]}"; else printf '%s\n' "$line"; fi
    done <"$1"
}

prepare 2>/dev/null
failed=0
for page in "${pages[@]}"; do
    as_said=$HOME/../results/${page##*/}
    replayed "$page" >"$as_said"
    if [[ $mode == --rewrite ]]; then
        cp "$as_said" "$page"
    else
        diff -u "$page" "$as_said" || failed=1
    fi
done
((failed == 0)) || {
    echo "The pages differ from what the command says; read them, and run tests/guides/errors.sh with --rewrite." >&2
    exit 1
}
rows=$(cat "${pages[@]}" | grep -c '^| `')
((rows >= 100)) || { echo "The pages have $rows inputs, and should have 100." >&2 && exit 1; }
! grep -E '^\| `[^`]+` \| 0 \|' "${pages[@]}" || { echo "These inputs are not wrong." >&2 && exit 1; }
