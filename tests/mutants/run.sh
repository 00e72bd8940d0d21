#!/usr/bin/env bash
# tests/mutants/run.sh [--sample COUNT] [REGEX]: takes guards out of a copy of the code, one at a time, and runs the test
# that is to notice it. Fails if one does not, or fails without a change. REGEX chooses by what is said of a change,
# --sample so many of them, other ones each day. The last lines say how many were noticed, how long it took, and which were
# not.
#
# The changes are patches in the files *.txt here, with two lines before each:
#
#   # what is changed
#   # suite: what the name of the test begins with, after that of its instance
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source .ci/packages.sh
source .ci/build.sh
source .ci/servers.sh
exec </dev/null

sample=1000000 regex=.
while [[ $# -gt 0 ]]; do
    case $1 in
        --sample) sample=${2:?a count} && shift ;;
        *) regex=$1 ;;
    esac
    shift
done
need_packages "${build_packages[@]}" "${test_packages[@]}" patch

export tree=$PWD/build/mutants/tree build=$PWD/build/mutants/build changes=$PWD/build/mutants/changes jobs
export ROWLOCK_TEST_LIMIT=120  # a change may make a test wait for ever
rm -rf "$tree" "$changes" && mkdir -p "$tree" "$changes"
git ls-files --cached --others --exclude-standard | while IFS= read -r file; do
    [[ ! -e $file ]] || cp --parents --preserve=timestamps "$file" "$tree"
done
awk -v folder="$changes/" '
    /^# / && !heading { file = sprintf("%s%03d", folder, ++count) } { heading = /^# /; print >file }' tests/mutants/*.txt
# What a run before has built last of them was changed, and newer than the file as it was.
sed -n 's,^+++ b/,,p' "$changes"/* | sort -u | (cd "$tree" && xargs touch)

what() { sed -n '1s/^# //p' "$1"; }
suite() { sed -n '2s/^# \([^:]*\): .*/\1/p' "$1"; }
test_in() { sed -n '2s/^# [^:]*: //p' "$1"; }
build_suites() { cmake --build "$build" --parallel "$jobs" --target "${@/%/_tests}" >"$build.log" 2>&1; }
passes() { "$build/bin/rowlock_$(suite "$1")_tests" --gtest_brief=1 --gtest_filter="*$(test_in "$1")*" >"$build.out" 2>&1; }
has_run() { grep -q '^\[==========\] [1-9]' "$build.out"; }

# outcome <change>
outcome() {
    local result=noticed
    if ! patch --directory="$tree" --strip=1 --silent --no-backup-if-mismatch --reject-file=- <"$1" >"$build.log" 2>&1; then
        result='does not apply'
    elif ! build_suites "rowlock_$(suite "$1")"; then
        result='does not build'
    elif passes "$1"; then
        result=SURVIVED
    fi
    # As it was; its time is new, so that it is built again.
    sed -n 's,^+++ b/,,p' "$1" | while IFS= read -r file; do cp "$file" "$tree/$file"; done
    printf '%s\n' "$result"
}

all() {
    local change test result began failed=0 suites others=()
    local -A tried=()
    mapfile -t suites < <(for change in "$@"; do suite "$change"; done | sort -u)
    build_suites "${suites[@]/#/rowlock_}" || { cat "$build.log" && return 1; }
    for change in "$@"; do
        test=$(sed -n 2p "$change")
        [[ -z ${tried[$test]:-} ]] || continue
        tried[$test]=1
        passes "$change" && has_run && continue
        printf 'fails or does not run without the change  %s\n' "$(what "$change")" && failed=1
    done
    for change in "$@"; do
        began=$SECONDS
        result=$(outcome "$change")
        printf '%-14s  %3d s  %s\n' "$result" $((SECONDS - began)) "$(what "$change")"
        [[ $result == noticed ]] || others+=("$result  $(what "$change")")
    done
    printf '%d of %d changes were noticed, in %d minutes\n' $(($# - ${#others[@]})) $# $((SECONDS / 60))
    [[ ${#others[@]} -eq 0 ]] || { printf '%s\n' "${others[@]}" && failed=1; }
    return "$failed"
}
export -f what suite test_in build_suites passes has_run outcome all

cmake -S "$tree" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DROWLOCK_UNITY=ON -DROWLOCK_BUILD_BENCH=OFF \
    "${with_everything[@]}" >/dev/null
mapfile -t chosen < <(for change in "$changes"/*; do
    [[ ! $(what "$change") =~ $regex ]] || printf '%s %s\n' "$(what "$change" | sed "s/^/$(date +%F)/" | sha256sum)" "$change"
done | sort | head -n "$sample" | awk '{ print $NF }' | sort)
[[ ${#chosen[@]} -gt 0 ]] || { echo "No change is called so: $regex" >&2 && exit 2; }
with_servers postgresql pgbouncer mariadb mariadb_for_defaults -- bash -c 'set -uo pipefail; all "$@"' mutants "${chosen[@]}"
