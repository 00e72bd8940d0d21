#!/usr/bin/env bash
# A project that has rowlock as a subdirectory needs nothing that only our tests and programs need, and gets nothing but
# the library.
source "${BASH_SOURCE[0]%/*}/common.sh"

disabled=()
for package in GTest CLI11 fmt nlohmann_json; do disabled+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"); done
configure() { quietly configure_consumer "" subdirectory -DFETCHCONTENT_SOURCE_DIR_ROWLOCK="$root" "${disabled[@]}" "$@"; }
configure
# Fast to build: what matters is what is built.
configure -DROWLOCK_WITH_{POSTGRESQL,MYSQL}=OFF -DCMAKE_CXX_FLAGS_RELEASE=-O0
quietly "$cmake" --build "$scratch/consumer" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
steps=$(find "$scratch/consumer" -name '*.o' -o -name 'librowlock_*.a' -o -path '*/out/consumer' | wc -l)
[[ $steps -le 40 ]] || fail "rowlock took $steps steps to build"

[[ -f $scratch/consumer/out/librowlock_core.a ]] || fail "rowlock was not built to where the project wants libraries"
check_consumer "$scratch/consumer/out/consumer"

quietly "$cmake" --install "$scratch/consumer" --prefix "$scratch/prefix"
[[ -z $(find "$scratch/prefix" -type f 2>/dev/null) ]] || fail "rowlock was installed with the project"
