#!/usr/bin/env bash
# Builds and runs the benchmarks: ./bench.sh [--quick] [--only PATTERN] [--json FILE]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$root/.ci/packages.sh"
source "$root/.ci/build.sh"

need_packages "${build_packages[@]}" "${test_packages[@]}"
build_quietly "$root" release rowlock_bench

exec "$root/build/release/bin/rowlock_bench" "$@"
