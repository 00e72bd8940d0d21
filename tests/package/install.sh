#!/usr/bin/env bash
# The installed tree serves find_package and pkg-config, although it was moved after it was installed.
source "${BASH_SOURCE[0]%/*}/common.sh"

check_answers() {
    quietly configure_consumer "$prefix" answers -DIS_SHARED="$is_shared" -DINSTALLED="${components// /;}"
    if configure_consumer "$prefix" find_package -DASKED_FOR="COMPONENTS;nonsense" >"$scratch/log" 2>&1; then
        fail "A component that does not exist was found"
    fi
    grep -q 'no component nonsense;' <(tr -s ' \n' ' ' <"$scratch/log") ||
        fail "It was not said which component does not exist: $(<"$scratch/log")"
}

# A shared library finds its sister, as when a plug-in brings it along.
check_shared_libraries() {
    local library missing
    while IFS= read -r library; do
        missing=$(ldd "$library" | grep 'not found' || true)
        [[ -z $missing ]] || fail "$library needs $missing"
    done < <(find "$prefix" -name 'librowlock_*.so')
}

# A program that was built with another libpqxx than the library does not link, and is told why. That other one is not
# here: what the program asks for is renamed.
check_libpqxx_of_program() {
    [[ " $components " == *" postgresql "* ]] || return 0
    local flags wanted other=rowlock_was_built_with_libpqxx_6_99
    flags=$(pkg-config --libs rowlock-postgresql libpqxx)
    # shellcheck disable=SC2046
    quietly "$CXX" -std=c++20 $(pkg-config --cflags rowlock-postgresql libpqxx) \
        -c "$here/locking_transaction.cpp" -o "$scratch/program.o"
    # shellcheck disable=SC2086
    quietly "$CXX" "$scratch/program.o" $flags -o "$scratch/program"
    wanted=$(nm "$scratch/program.o" | sed -n 's/^ *U \(rowlock_was_built_with_libpqxx_[0-9_]*\)$/\1/p')
    [[ $wanted == rowlock_was_built_with_libpqxx_$(pkg-config --modversion libpqxx | cut -d. -f1,2 | tr . _) ]] ||
        fail "The program asks for: $wanted"
    objcopy --redefine-sym "$wanted=$other" "$scratch/program.o"
    # shellcheck disable=SC2086
    if "$CXX" "$scratch/program.o" $flags -o "$scratch/never" >"$scratch/log" 2>&1; then
        fail "A program for another libpqxx was linked"
    fi
    grep -q "undefined reference to .$other" "$scratch/log" ||
        fail "It was not said that the program is for another libpqxx: $(<"$scratch/log")"
}

# A program locks on a connection of its own.
check_mariadb_c_program() {
    [[ " $components " == *" mysql "* && $mysql_package == libmariadb-dev ]] || return 0
    local flags
    flags=$(pkg-config --cflags --libs rowlock-mysql libmariadb)
    # shellcheck disable=SC2086
    quietly "$CXX" -std=c++20 "$here/locking_on_mariadb_c.cpp" $flags -o "$scratch/program"
}

# A program of Asio, where that is: rowlock needs nothing of it when it is built.
check_asio_program() {
    echo '#include <asio.hpp>' | "$CXX" -x c++ -E - >/dev/null 2>&1 || return 0
    local flags
    flags=$(pkg-config --cflags --libs rowlock-sqlite)
    # shellcheck disable=SC2086
    quietly "$CXX" -std=c++20 "$root/examples/async_server.cpp" $flags -pthread -o "$scratch/program"
}

keep_manifests
prefix=$scratch/moved
quietly "$cmake" --install "$build" --prefix "$scratch/installed"
mv "$scratch/installed" "$prefix"
for path in "$scratch" "$build" "$root"; do
    if grep -rlF "$path" --include='*.cmake' --include='*.pc' "$prefix"; then fail "These files name $path"; fi
done
[[ -z $(find "$prefix/include" -type f -not -name '*.hpp') ]] || fail "Not only headers are in $prefix/include"

check_find_package "$prefix" rowlock::sqlite COMPONENTS sqlite
check_find_package "$prefix" rowlock::rowlock
check_answers
check_pkg_config "$prefix" rowlock-sqlite
check_pkg_config "$prefix" rowlock
check_servers "$prefix"
check_libpqxx_of_program
check_mariadb_c_program
check_asio_program
check_command "$prefix"
check_manual "$prefix"
check_guides "$prefix"
check_shared_libraries
