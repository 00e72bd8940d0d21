# MariaDB Connector/C as the target MariaDBConnectorC::mariadb. Sets MariaDBConnectorC_VERSION. vcpkg's has another name and
# another folder, and is static as a rule; its package configuration knows what is linked with it.

find_package(unofficial-libmariadb CONFIG QUIET)
if(TARGET unofficial::libmariadb)
    set(MariaDBConnectorC_LIBRARY unofficial::libmariadb)
else()
    find_library(MariaDBConnectorC_LIBRARY mariadb PATH_SUFFIXES mariadb)
endif()
find_path(MariaDBConnectorC_INCLUDE_DIR mariadb_version.h PATH_SUFFIXES mariadb mysql)
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
    if(TARGET "${MariaDBConnectorC_LIBRARY}")
        add_library(MariaDBConnectorC::mariadb INTERFACE IMPORTED)
        target_link_libraries(MariaDBConnectorC::mariadb INTERFACE "${MariaDBConnectorC_LIBRARY}")
    else()
        add_library(MariaDBConnectorC::mariadb UNKNOWN IMPORTED)
        set_target_properties(MariaDBConnectorC::mariadb PROPERTIES IMPORTED_LOCATION "${MariaDBConnectorC_LIBRARY}")
    endif()
    set_target_properties(MariaDBConnectorC::mariadb PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${MariaDBConnectorC_INCLUDE_DIR}")
endif()
