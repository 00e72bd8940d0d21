#!/usr/bin/env bash
# sweeper_test.sh <sweeper>: does it sweep, and end well on SIGTERM?
set -euo pipefail

exec 3< <(exec "$1" sqlite::memory:)
service=$!
read -r ready <&3
[[ $ready == sweeping ]]
kill -TERM "$service"
[[ $(cat <&3) == "1 sweeps, 0 rows, 0 failures" ]]
wait "$service"
