#!/usr/bin/env bash
# Builds everything, warnings as errors, and runs every test.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
source .ci/packages.sh
source .ci/build.sh
exec </dev/null

need_packages "${build_packages[@]}" "${test_packages[@]}"

cmake --preset release -DROWLOCK_WERROR=ON
cmake --build --preset release --parallel "$jobs"

ctest --preset release
