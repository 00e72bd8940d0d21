#!/usr/bin/env bash
# tests/fuzz/run.sh [SECONDS [KIND...]]: builds the programs that libFuzzer feeds in build/fuzz, by clang and with its
# sanitizers, and runs each, or those of some kinds, for so many seconds (10). Fails if one finds an input for which
# something does not hold; prints it, and keeps it for
#
#   build/fuzz/bin/rowlock_fuzz_KIND FILE
#
# Each run begins anew from seeds/KIND.txt, each line of which is an input. ROWLOCK_TEST_SEED repeats its choices.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source .ci/build.sh

seconds=${1:-10}
shift || true
kinds=("$@")
[[ ${#kinds[@]} -gt 0 ]] || mapfile -t kinds < <(sed 's/\.txt$//' < <(ls tests/fuzz/seeds))

CC=clang CXX=clang++ cmake --preset fuzz "${with_everything[@]}"
cmake --build --preset fuzz --parallel "$jobs" --target rowlock_fuzz

export seconds findings=build/fuzz/findings
rm -rf "$findings" && mkdir -p "$findings"

run() {
    local kind=$1 corpus log=$findings/$1.log seed number=0 finding
    corpus=$(mktemp -d)
    while IFS= read -r seed; do printf '%s' "$seed" >"$corpus/$((number += 1))"; done <"tests/fuzz/seeds/$kind.txt"
    if "build/fuzz/bin/rowlock_fuzz_$kind" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=1024 \
        -seed="${ROWLOCK_TEST_SEED:-0}" -artifact_prefix="$findings/$kind-" "$corpus" >"$log" 2>&1; then
        printf '%-15s %s\n' "$kind" "$(tail -n 1 "$log")"
        rm -rf "$corpus"
        return
    fi
    rm -rf "$corpus"
    grep -v -e '^#' -e NEW_FUNC -e fuzzer:: "$log" >&2
    for finding in "$findings/$kind"-*; do
        echo "$finding:" >&2
        od -A d -c "$finding" >&2
    done
    return 1
}
export -f run

printf '%s\0' "${kinds[@]}" | xargs -0 --max-args=1 --max-procs="$jobs" bash -c 'run "$0"'
