#!/usr/bin/env bash
# MySQL's connector in a folder of its own, as Oracle lays it out: a program finds its headers, in each of the three ways to
# write them, and its library, through rowlock's target and through pkg-config. A program for another connector does not
# link.
source "${BASH_SOURCE[0]%/*}/common.sh"

[[ " $components " == *" mysql "* && $mysql_package == libmysqlcppconn-dev ]] || exit 77

setting() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

# make_connector: a copy of the one that rowlock was built with. Its headers say that they are this one's.
make_connector() {
    local headers header
    headers=$(setting MySQLConnectorCPP_INCLUDE_DIR)
    connector=$scratch/connector
    mkdir -p "$connector"/{include/jdbc,include/mysql,lib64}
    cp -r "$headers"/{cppconn,mysql_connection.h,mysql_driver.h,mysql_error.h} "$connector/include/jdbc"
    echo '#define CONNECTOR_OF_THE_TEST' >>"$connector/include/jdbc/cppconn/version_info.h"
    for header in mysql_connection.h mysql_driver.h mysql_error.h cppconn/version_info.h; do
        echo "#include \"../jdbc/$header\""
    done >"$connector/include/mysql/jdbc.h"
    cp -L "$(setting MySQLConnectorCPP_LIBRARY)" "$connector/lib64/libmysqlcppconn.so"
}

check_target() {
    quietly configure_consumer "$prefix;$connector" connector
    quietly "$cmake" --build "$scratch/consumer"
}

# rowlock is only configured once more, with that connector. The library is the one that was built already.
check_pkg_config_with_connector() {
    local header
    quietly "$cmake" -S "$root" -B "$scratch/again" -DCMAKE_PREFIX_PATH="$connector" -DBUILD_SHARED_LIBS="$is_shared" \
        -DROWLOCK_WITH_SQLITE=OFF -DROWLOCK_WITH_POSTGRESQL=OFF \
        -DROWLOCK_BUILD_{COMMAND,TESTS,EXAMPLES,BENCH}=OFF
    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name rowlock-mysql.pc)")
    cp "$scratch/again/generated/rowlock-mysql.pc" "$PKG_CONFIG_PATH"
    [[ $is_shared == ON ]] || [[ " $(pkg-config --libs rowlock-mysql) " == *" -L$connector/lib64 "* ]] ||
        fail "pkg-config says: $(pkg-config --libs rowlock-mysql)"
    for header in mysql/jdbc.h jdbc/cppconn/connection.h cppconn/connection.h; do
        # shellcheck disable=SC2046
        quietly "$CXX" -std=c++20 "-DCONNECTOR_HEADER=<$header>" "$here/mysql_transaction.cpp" \
            $(pkg-config --cflags --libs rowlock-mysql) -o "$scratch/by_pkg_config"
    done
}

# Only the number is another one: so are the functions that the program asks for.
check_other_connector() {
    local version=$connector/include/jdbc/cppconn/version_info.h function
    sed -i 's/\(MYCPPCONN_DM_MINOR_VERSION\) .*/\1 99/' "$version"
    # shellcheck disable=SC2046
    if "$CXX" -std=c++20 "-DCONNECTOR_HEADER=<cppconn/connection.h>" "$here/mysql_transaction.cpp" \
        $(pkg-config --cflags --libs rowlock-mysql) -o "$scratch/never" >"$scratch/log" 2>&1; then
        fail "A program for another connector was linked"
    fi
    for function in lock_in confirm mysql_attempt::commit; do
        grep -q "undefined reference to .*built_with_mysql_connector_cpp_[0-9]*_99::$function(" "$scratch/log" ||
            fail "It was not said that the program is for another connector: $(<"$scratch/log")"
    done
}

prefix=$scratch/installed
keep_manifests
quietly "$cmake" --install "$build" --prefix "$prefix"
make_connector
check_target
check_pkg_config_with_connector
check_other_connector
