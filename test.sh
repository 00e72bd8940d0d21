#!/usr/bin/env bash
# Builds everything, warnings as errors, starts throw-away servers and runs the tests. Without arguments the quick tier:
# every law, strategy and database, in about twenty minutes.
#
#   ./test.sh                 the quick tier
#   ./test.sh --all           the full tier: every combination, a million rows, races at length, models, fuzzing, benchmarks
#   ./test.sh [--all] REGEX   the tests in whose name it is found: 'contract/lease[.]' or '/mysql_'
#   ./test.sh --soak MINUTES  random histories under faults for so long, which a program judges
#   ./test.sh --soak MINUTES --subject NAME   the same faults and judge for another lock: docs/evidence.md has their names
#   ./test.sh --help          this
#
# The gate of a change, with sanitizers and lint, is .ci/run. The servers are PostgreSQL and MariaDB as Debian has them, in
# a temporary folder, unless ROWLOCK_TEST_POSTGRESQL_URL or ROWLOCK_TEST_MYSQL_URL name others, by roles that may do
# everything. ROWLOCK_TEST_SEED repeats the random choices of a run that failed.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
source .ci/packages.sh
source .ci/build.sh
source .ci/servers.sh
exec </dev/null

tier=quick regex= soak= subject=
while [[ $# -gt 0 ]]; do
    case $1 in
        --quick) tier=quick ;;
        --all) tier=all ;;
        --soak) soak=${2:?minutes} && shift ;;
        --subject) subject=${2:?a name} && shift ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && exit ;;
        -*) echo "There is no option $1; ./test.sh --help tells what there is." >&2 && exit 2 ;;
        *) regex=$1 ;;
    esac
    shift
done

[[ -z $subject || -n $soak ]] || { echo "--subject goes with --soak; ./test.sh --help tells what there is." >&2 && exit 2; }
packages=("${build_packages[@]}" "${test_packages[@]}")
[[ -z $subject ]] || packages+=(redis-server libhiredis-dev)
need_packages "${packages[@]}"
use_memory

cmake --preset release "${with_everything[@]}" -DROWLOCK_BUILD_BENCH="$([[ $tier == all ]] && echo ON || echo OFF)"
cmake --build --preset release --parallel "$jobs"

if [[ -n $soak ]]; then
    filter='*soak*'
    [[ -z $subject ]] || filter='subject_names.*:*/disturbed.*'
    with_servers postgresql mariadb -- env ROWLOCK_TEST_SOAK=$((soak * 60)) ROWLOCK_TEST_SUBJECT="$subject" \
        build/release/bin/rowlock_history_tests --gtest_brief=1 --gtest_filter="$filter"
    exit
fi
with_servers postgresql pgbouncer mariadb mariadb_for_defaults -- .ci/tests release "$tier" "$regex"
# Requests of many threads travel together, unless a client says otherwise.
[[ $tier == quick || -n $regex ]] ||
    with_servers postgresql pgbouncer mariadb mariadb_for_defaults -- \
        env ROWLOCK_TEST_COMBINE=off ROWLOCK_TEST_TIER=quick \
        ctest --preset release --label-regex '^(contract|process|faults)$'
# Inputs that nobody thought of, where clang is there.
[[ $tier == quick || -n $regex || -z $(command -v clang++) ]] || tests/fuzz/run.sh 60
