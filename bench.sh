#!/usr/bin/env bash
# Builds the benchmarks and runs them, side by side with what people use instead: the same SQL by hand, advisory locks, Redis.
#
#   ./bench.sh                    everything, as long as it takes
#   ./bench.sh --quick            does it run? in less than five minutes after the build
#   ./bench.sh --only REGEX       what it finds in "database: case: subject"
#   ./bench.sh --json FILE        also writes the results there, a line of JSON for each
#   ./bench.sh --database URL     that database instead of servers of its own; may be given several times
#   ./bench.sh --help             this, and the options of the program
#
# PostgreSQL, MariaDB and Redis, as Debian has them and with their defaults, run in a temporary folder for the time of the
# benchmark. TMPDIR says on which disk that is, which matters: every grant is committed there.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$root/.ci/packages.sh"
source "$root/.ci/build.sh"
source "$root/.ci/servers.sh"

bench=$root/build/bench/bin/rowlock_bench
servers=(postgresql mariadb redis durable_redis)
for argument in "$@"; do
    case $argument in
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" && help=yes ;;
        --database | --database=*) servers=(redis durable_redis) ;;
    esac
done

need_packages "${build_packages[@]}" "${bench_packages[@]}"
# In a folder of its own, because tests (and their packages) are left out here.
build_quietly "$root" bench rowlock_bench -DROWLOCK_BUILD_TESTS=OFF -DROWLOCK_BUILD_BENCH=ON
[[ -z ${help-} ]] || exec "$bench" --help

with_servers "${servers[@]}" -- "$bench" "$@"
