#!/usr/bin/env bash
# Builds and runs the benchmarks: ./bench.sh [--quick] [--only PATTERN] [--json FILE] [--database URL]
# Without a URL, PostgreSQL and MariaDB are measured on throw-away servers.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$root/.ci/packages.sh"
source "$root/.ci/build.sh"
source "$root/.ci/servers.sh"

need_packages "${build_packages[@]}" "${test_packages[@]}"
build_quietly "$root" release rowlock_bench

for argument in "$@"; do
    case $argument in
        --database | --database=* | -h | --help) exec "$root/build/release/bin/rowlock_bench" "$@" ;;
    esac
done
with_servers postgresql mariadb -- "$root/build/release/bin/rowlock_bench" "$@"
