#!/usr/bin/env bash
# The port for vcpkg: its manifest keeps the rules, its options exist for each feature, and in the full tier what it installs is
# where vcpkg wants it, and programs can be built with it. vcpkg itself is not here: vcpkg.cmake stands for it.
source "${BASH_SOURCE[0]%/*}/common.sh"

port=$scratch/release/ports/rowlock
packages=$scratch/vcpkg/packages
installed=$scratch/installed

# make_libmariadb: where vcpkg has it, and with the package configuration that vcpkg makes.
make_libmariadb() {
    local headers config=$installed/share/unofficial-libmariadb/unofficial-libmariadb-config.cmake
    headers=$(pkg-config --variable=includedir libmariadb)
    mkdir -p "${config%/*}" "$installed/include"
    ln -s "$headers" "$installed/include/mysql"
    cat >"$config" <<END
if(TARGET unofficial::libmariadb)
    return()
endif()
add_library(unofficial::libmariadb INTERFACE IMPORTED)
target_include_directories(unofficial::libmariadb INTERFACE "$installed/include/mysql")
target_link_libraries(unofficial::libmariadb INTERFACE "$(pkg-config --variable=libdir libmariadb)/libmariadb.so")
END
}

# read_port ON|OFF <feature>...
read_port() {
    local is_built=$1 features
    shift
    printf -v features '%s;' "$@"
    rm -rf "$scratch/vcpkg"
    quietly "$cmake" -DPORT_FOLDER="$port" -DSCRATCH="$scratch/vcpkg" -DFEATURES="${features%;}" -DVERSION="$version" \
        -DINSTALLED="$installed" -DBUILD="$is_built" -P "$here/vcpkg.cmake"
}

check_layout() {
    local file odd
    for file in include/rowlock/rowlock.hpp {,debug/}lib/librowlock_{core,sqlite,mysql}.a {,debug/}lib/pkgconfig/rowlock.pc \
        share/rowlock/{copyright,usage,rowlock-config.cmake,rowlock-core-targets-{debug,release}.cmake} \
        share/rowlock/schema/sqlite/0001_rowlock.sql tools/rowlock/rowlock; do
        [[ -f $packages/$file ]] || fail "$file is not installed"
    done
    odd=$(find "$packages" -type d -empty -o -path "$packages/debug/include*" -o -path "$packages/debug/share*" \
        -o -path "*/lib/cmake*" -o -path "$packages/bin*" -o -path "$packages/debug/bin*" -o -xtype l)
    [[ -z $odd ]] && odd=$(ls -A "$packages/share" | grep -vx rowlock || true)
    [[ -z $odd ]] || fail "These have no place in a package of vcpkg: $odd"
    odd=$(grep -rlIF -e "$scratch" -e "$root" "$packages" || true)
    [[ -z $odd ]] || fail "These files name folders of this machine: $odd"
    cmp "$root/LICENSE" "$packages/share/rowlock/copyright"
    grep -q 'find_package(rowlock CONFIG REQUIRED)' "$packages/share/rowlock/usage" || fail "usage does not tell how to use it"
}

# A program of either kind links the libraries of its kind.
check_consumers() {
    local kind library
    for kind in Release:lib Debug:debug/lib; do
        library=$packages/${kind#*:}/librowlock_sqlite.a
        quietly configure_consumer "$packages;$installed" find_package -DTARGET=rowlock::rowlock -DASKED_FOR=CONFIG \
            -DCMAKE_BUILD_TYPE="${kind%:*}" -G Ninja
        quietly "$cmake" --build "$scratch/consumer"
        check_consumer "$scratch/consumer/consumer"
        grep -qF "$library" "$scratch/consumer/build.ninja" || fail "A program as ${kind%:*} does not link $library"
    done
}

make_release
make_libmariadb
features=()
[[ " $components " != *" postgresql "* ]] || features+=(postgresql)
[[ $has_command != 1 ]] || features+=(tools)
read_port OFF core
read_port OFF mysql "${features[@]}"
grep -q "^MariaDBConnectorC_INCLUDE_DIR:PATH=$installed/" "$scratch/vcpkg/buildtrees/rel/CMakeCache.txt" ||
    fail "The libmariadb of vcpkg was not found"
if [[ ${ROWLOCK_TEST_TIER-} == all ]]; then
    read_port ON mysql tools
    check_layout
    [[ $("$packages/tools/rowlock/rowlock" --version) == "rowlock $version" ]] || fail "The tool does not run"
    check_consumers
fi
