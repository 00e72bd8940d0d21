# MariaDB Connector/C as the target MariaDBConnectorC::mariadb. Sets MariaDBConnectorC_VERSION.

find_path(MariaDBConnectorC_INCLUDE_DIR mariadb_version.h PATH_SUFFIXES mariadb)
find_library(MariaDBConnectorC_LIBRARY mariadb PATH_SUFFIXES mariadb)
mark_as_advanced(MariaDBConnectorC_INCLUDE_DIR MariaDBConnectorC_LIBRARY)

set(file "${MariaDBConnectorC_INCLUDE_DIR}/mariadb_version.h")
if(MariaDBConnectorC_INCLUDE_DIR AND EXISTS "${file}")
    file(STRINGS "${file}" line REGEX "define +MARIADB_PACKAGE_VERSION +\"[0-9.]+\"")
    string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" MariaDBConnectorC_VERSION "${line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MariaDBConnectorC
    REQUIRED_VARS MariaDBConnectorC_LIBRARY MariaDBConnectorC_INCLUDE_DIR
    VERSION_VAR MariaDBConnectorC_VERSION)

if(MariaDBConnectorC_FOUND AND NOT TARGET MariaDBConnectorC::mariadb)
    add_library(MariaDBConnectorC::mariadb UNKNOWN IMPORTED)
    set_target_properties(MariaDBConnectorC::mariadb PROPERTIES
        IMPORTED_LOCATION "${MariaDBConnectorC_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${MariaDBConnectorC_INCLUDE_DIR}")
endif()
