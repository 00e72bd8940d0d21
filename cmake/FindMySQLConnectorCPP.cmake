# MySQL Connector/C++, its JDBC-style API, as the target MySQLConnectorCPP::jdbc. Debian's 1.1 has its headers in the
# include folder itself, Oracle's 8 and 9 below jdbc/, beside mysql/jdbc.h, which includes them all. Sets
# MySQLConnectorCPP_VERSION and MySQLConnectorCPP_INCLUDE_DIRS.

set(hints "$ENV{MYSQL_CONNECTOR_CPP}" /usr/local/mysql-connector-c++ /opt/mysql-connector-c++)
find_path(MySQLConnectorCPP_INCLUDE_DIR mysql_driver.h
    HINTS ${hints}
    PATH_SUFFIXES include/jdbc include jdbc mysql-cppconn/jdbc mysql-cppconn-8/jdbc)
find_library(MySQLConnectorCPP_LIBRARY mysqlcppconn
    HINTS ${hints}
    PATH_SUFFIXES lib lib64)
mark_as_advanced(MySQLConnectorCPP_INCLUDE_DIR MySQLConnectorCPP_LIBRARY)

set(file "${MySQLConnectorCPP_INCLUDE_DIR}/cppconn/version_info.h")
if(MySQLConnectorCPP_INCLUDE_DIR AND EXISTS "${file}")
    foreach(part IN ITEMS MAJOR MINOR PATCH)
        file(STRINGS "${file}" line REGEX "define +MYCPPCONN_DM_${part}_VERSION +[0-9]+")
        string(REGEX REPLACE ".*_VERSION +([0-9]+).*" "\\1" MySQLConnectorCPP_${part} "${line}")
    endforeach()
    set(MySQLConnectorCPP_VERSION
        "${MySQLConnectorCPP_MAJOR}.${MySQLConnectorCPP_MINOR}.${MySQLConnectorCPP_PATCH}")
endif()

# The headers of 1.1 ask for Boost's.
if(MySQLConnectorCPP_VERSION VERSION_LESS 8)
    find_path(MySQLConnectorCPP_BOOST_INCLUDE_DIR boost/shared_ptr.hpp)
    mark_as_advanced(MySQLConnectorCPP_BOOST_INCLUDE_DIR)
    set(needed MySQLConnectorCPP_BOOST_INCLUDE_DIR)
endif()

# A program may write <cppconn/...>, <jdbc/cppconn/...> or <mysql/jdbc.h>.
set(MySQLConnectorCPP_INCLUDE_DIRS "${MySQLConnectorCPP_INCLUDE_DIR}" ${MySQLConnectorCPP_BOOST_INCLUDE_DIR})
if(MySQLConnectorCPP_INCLUDE_DIR MATCHES "^(.+)/jdbc$")
    list(APPEND MySQLConnectorCPP_INCLUDE_DIRS "${CMAKE_MATCH_1}")
endif()
list(REMOVE_DUPLICATES MySQLConnectorCPP_INCLUDE_DIRS)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MySQLConnectorCPP
    REQUIRED_VARS MySQLConnectorCPP_LIBRARY MySQLConnectorCPP_INCLUDE_DIR ${needed}
    VERSION_VAR MySQLConnectorCPP_VERSION)

if(MySQLConnectorCPP_FOUND AND NOT TARGET MySQLConnectorCPP::jdbc)
    add_library(MySQLConnectorCPP::jdbc UNKNOWN IMPORTED)
    set_target_properties(MySQLConnectorCPP::jdbc PROPERTIES
        IMPORTED_LOCATION "${MySQLConnectorCPP_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${MySQLConnectorCPP_INCLUDE_DIRS}")
endif()
