#!/usr/bin/env bash
# units.sh <folder of rowlock>: systemd finds no fault with the units of the guides, and what they start does what they
# are for. In the folder where it is called, which is empty.
set -euo pipefail

bin=$1
units=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../docs/systemd" && pwd)

printf '#!/bin/sh\necho "$ROWLOCK_NAME" >%s/was_run\n' "$PWD" >nightly && chmod +x nightly
printf '#!/bin/sh\necho "$ROWLOCK_NAME" >%s/works\nexec sleep 1000\n' "$PWD" >worker && chmod +x worker
echo "sqlite:$PWD/locks.db" >database
cp "$units"/* .
sed -i "s#/usr/bin/rowlock#$bin/rowlock#; s#/usr/local/bin/#$PWD/#; s#/etc/rowlock/database#$PWD/database#" \
    ./*.service

# setting <unit> <name>
setting() { sed -n "s#^$2=##p" "$1"; }

# start <unit>: its command with its environment. systemd hands it the file of LoadCredential= under %d.
start() {
    local environment
    environment=$(setting "$1" Environment)
    [[ $(setting "$1" LoadCredential) == "database:$PWD/database" ]] || return 1
    # shellcheck disable=SC2046
    exec env -i "${environment//%d/$PWD}" $(setting "$1" ExecStart)
}

"$bin/rowlock" --database "$(<database)" migrate
(start nightly.service)
[[ $(<was_run) == nightly ]]

# It has succeeded this day, unless midnight came in between: another host leaves it alone.
(start nightly.service)
days=$("$bin/rowlock" --database "$(<database)" history nightly | awk 'NR > 1 { print $2 }')
[[ -n $days && -z $(uniq -d <<<"$days") ]]

(start rowlock-sweep.service) &
sweeper=$!
trap 'kill -KILL "$sweeper" 2>/dev/null || true' EXIT
until [[ $(readlink /proc/"$sweeper"/fd/* 2>/dev/null) == *locks.db* ]]; do kill -0 "$sweeper"; done
kill -TERM "$sweeper"
wait "$sweeper" || [[ $? == 143 ]]  # as it ends while it still connects; systemd takes both for a success

# It hands over when it is told to end.
(start worker.service) &
leader=$!
trap 'kill -KILL "$leader" 2>/dev/null || true' EXIT
until [[ -s works ]]; do kill -0 "$leader"; done
[[ $(<works) == worker ]]
kill -TERM "$leader"
status=0
wait "$leader" || status=$?
[[ $status == "$(setting worker.service SuccessExitStatus)" ]]
"$bin/rowlock" --database "$(<database)" run -n worker true

if ! command -v systemd-analyze >/dev/null; then
    echo "Skipped: there is no systemd-analyze here, so that nobody looked at the rest of the units."
    exit 0
fi
# It exits with 0 where it does not know what a line means.
said=$(systemd-analyze verify ./*.service ./*.timer 2>&1) && [[ -z $said ]] || { echo "$said" >&2 && exit 1; }
