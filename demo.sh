#!/usr/bin/env bash
# Builds the flash sale (demo/) and runs it with the given arguments; --help tells them.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$root/.ci/packages.sh"
source "$root/.ci/build.sh"

# In a folder of its own, because tests and benchmarks (and their packages) are left out here: switching them off in
# build/release would make ./test.sh configure and build anew after every demo.
need_packages "${build_packages[@]}"
build_quietly "$root" demo flash_sale -DROWLOCK_BUILD_TESTS=OFF -DROWLOCK_BUILD_BENCH=OFF

exec "$root/build/demo/bin/flash_sale" "$@"
