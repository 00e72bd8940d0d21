# libpqxx, as the target libpqxx::pqxx. Its own package configuration is taken where there is one; Debian's packages
# bring none, only pkg-config's file. Sets libpqxx_VERSION.

find_package(libpqxx CONFIG QUIET)
if(TARGET libpqxx::pqxx)
    set(libpqxx_FOUND TRUE)
    return()
endif()

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(PC_libpqxx QUIET libpqxx)
endif()
find_path(libpqxx_INCLUDE_DIR pqxx/pqxx HINTS ${PC_libpqxx_INCLUDE_DIRS})
find_library(libpqxx_LIBRARY pqxx HINTS ${PC_libpqxx_LIBRARY_DIRS})
mark_as_advanced(libpqxx_INCLUDE_DIR libpqxx_LIBRARY)

# Not pkg-config's: it may know another libpqxx than the one that was found.
foreach(header IN ITEMS version.hxx version)
    if(libpqxx_INCLUDE_DIR AND EXISTS "${libpqxx_INCLUDE_DIR}/pqxx/${header}" AND NOT libpqxx_VERSION)
        file(STRINGS "${libpqxx_INCLUDE_DIR}/pqxx/${header}" line REGEX "define +PQXX_VERSION +\"")
        string(REGEX REPLACE ".*\"([0-9.]+).*" "\\1" libpqxx_VERSION "${line}")
    endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libpqxx
    REQUIRED_VARS libpqxx_LIBRARY libpqxx_INCLUDE_DIR
    VERSION_VAR libpqxx_VERSION)

if(libpqxx_FOUND)
    add_library(libpqxx::pqxx UNKNOWN IMPORTED)
    set_target_properties(libpqxx::pqxx PROPERTIES
        IMPORTED_LOCATION "${libpqxx_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${libpqxx_INCLUDE_DIR}")
endif()
