# To be sourced.

jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}

# build_quietly <root> <folder> <target> [<configure argument>...]: the release preset in <root>/build/<folder>, there
# one target. Nothing is shown but progress, on stderr, and the log where it fails.
build_quietly() {
    local root=$1 folder=build/$2 target=$3
    shift 3
    local log=$root/$folder/$target.log
    mkdir -p "$root/$folder"
    echo "Building $target (log: $folder/$target.log)" >&2
    if ! { (cd "$root" && cmake --preset release -B "$folder" "$@") &&
        cmake --build "$root/$folder" --target "$target" --parallel "$jobs"; } >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        echo "$target could not be built." >&2
        return 1
    fi
}

# For cmake: every backend, and warnings are errors. Compiled objects are kept for other checkouts where ccache is there.
with_everything=(-DROWLOCK_WERROR=ON -DROWLOCK_WITH_SQLITE=ON -DROWLOCK_WITH_POSTGRESQL=ON -DROWLOCK_WITH_MYSQL=ON)
[[ -z $(command -v ccache) ]] || with_everything+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)

# For GTEST_FILTER: tests of transactions at another isolation level of a server than the usual one. The quick tier runs
# them; another compiler or driver makes no difference to what a level is.
other_isolation='*/postgresql_repeatable_read:*/mysql_read_committed:*/mysql_serializable'
