# What can be chosen at configure time. BUILD_SHARED_LIBS is honoured too.

option(ROWLOCK_WITH_SQLITE "Build the SQLite backend" ON)
option(ROWLOCK_WITH_POSTGRESQL "Build the PostgreSQL backend" ON)
option(ROWLOCK_WITH_MYSQL "Build the MySQL and MariaDB backend" ON)
set(ROWLOCK_MYSQL_DRIVER "connector-cpp" CACHE STRING
    "What that backend connects with: connector-cpp (MySQL Connector/C++) or mariadb-c (MariaDB Connector/C)")
set_property(CACHE ROWLOCK_MYSQL_DRIVER PROPERTY STRINGS connector-cpp mariadb-c)

option(ROWLOCK_WERROR "Treat warnings in our own sources as errors" OFF)
set(is_nested ON)
if(PROJECT_IS_TOP_LEVEL)
    set(is_nested OFF)
endif()
option(ROWLOCK_UNITY "Compile several of our sources at a time, which takes a third of the time" ${is_nested})
set(ROWLOCK_SANITIZE "" CACHE STRING "Sanitizers to build with, separated by commas, for instance address,undefined")

option(ROWLOCK_BUILD_COMMAND "Build the command rowlock" ${PROJECT_IS_TOP_LEVEL})
option(ROWLOCK_BUILD_TESTS "Build the tests and the documentation's snippets" ${PROJECT_IS_TOP_LEVEL})
option(ROWLOCK_BUILD_EXAMPLES "Build the examples and the demonstration" ${PROJECT_IS_TOP_LEVEL})
option(ROWLOCK_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(ROWLOCK_BUILD_FUZZ "Build the programs that libFuzzer feeds, and everything with its sanitizers; needs clang" OFF)
option(ROWLOCK_INSTALL "Have install rules and packages" ${PROJECT_IS_TOP_LEVEL})

if(NOT ROWLOCK_WITH_SQLITE AND NOT ROWLOCK_WITH_POSTGRESQL AND NOT ROWLOCK_WITH_MYSQL)
    message(FATAL_ERROR "Every backend is switched off, so there is no database that a lock could live in. "
                        "Configure with -DROWLOCK_WITH_SQLITE=ON, -DROWLOCK_WITH_POSTGRESQL=ON or -DROWLOCK_WITH_MYSQL=ON.")
endif()

if(ROWLOCK_MYSQL_DRIVER STREQUAL "connector-cpp")
    set(ROWLOCK_MYSQL_PACKAGE MySQLConnectorCPP 1.1)
    set(ROWLOCK_MYSQL_LIBRARY MySQLConnectorCPP::jdbc)
    set(ROWLOCK_MYSQL_DEBIAN_PACKAGE libmysqlcppconn-dev)
elseif(ROWLOCK_MYSQL_DRIVER STREQUAL "mariadb-c")
    set(ROWLOCK_MYSQL_PACKAGE MariaDBConnectorC 3.3)
    set(ROWLOCK_MYSQL_LIBRARY MariaDBConnectorC::mariadb)
    set(ROWLOCK_MYSQL_DEBIAN_PACKAGE libmariadb-dev)
else()
    message(FATAL_ERROR "ROWLOCK_MYSQL_DRIVER is \"${ROWLOCK_MYSQL_DRIVER}\". Configure with connector-cpp or mariadb-c.")
endif()

if(ROWLOCK_BUILD_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
        message(FATAL_ERROR "ROWLOCK_BUILD_FUZZ needs clang, which has libFuzzer. Configure with CXX=clang++.")
    endif()
    set(ROWLOCK_SANITIZE "fuzzer-no-link,address,undefined")
endif()
