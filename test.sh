#!/usr/bin/env bash
# Builds everything, warnings as errors, and runs every test.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
source .ci/packages.sh
source .ci/build.sh
source .ci/servers.sh
exec </dev/null

need_packages "${build_packages[@]}" "${test_packages[@]}"

cmake --preset release -DROWLOCK_WERROR=ON -DROWLOCK_WITH_SQLITE=ON -DROWLOCK_WITH_POSTGRESQL=ON \
    -DROWLOCK_WITH_MYSQL=ON
cmake --build --preset release --parallel "$jobs"

with_servers postgresql pgbouncer mariadb -- ctest --preset release
