# libpqxx, as the target libpqxx::pqxx. Its own package configuration is taken where there is one; Debian's packages
# bring none, only pkg-config's file. Sets libpqxx_VERSION; where it is a version that rowlock cannot use,
# libpqxx_NOT_FOUND_MESSAGE says why.

unset(libpqxx_VERSION)
find_package(libpqxx CONFIG QUIET)
set(where libpqxx_CONFIG)
if(NOT libpqxx_FOUND OR NOT TARGET libpqxx::pqxx)
    unset(libpqxx_VERSION)
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND)
        pkg_check_modules(PC_libpqxx QUIET libpqxx)
    endif()
    find_path(libpqxx_INCLUDE_DIR pqxx/pqxx HINTS ${PC_libpqxx_INCLUDE_DIRS})
    find_library(libpqxx_LIBRARY pqxx HINTS ${PC_libpqxx_LIBRARY_DIRS})
    mark_as_advanced(libpqxx_INCLUDE_DIR libpqxx_LIBRARY)
    set(where libpqxx_LIBRARY libpqxx_INCLUDE_DIR)
endif()

# Not pkg-config's: it may know another libpqxx than the one that was found.
foreach(header IN ITEMS version.hxx version)
    if(libpqxx_INCLUDE_DIR AND EXISTS "${libpqxx_INCLUDE_DIR}/pqxx/${header}" AND NOT libpqxx_VERSION)
        file(STRINGS "${libpqxx_INCLUDE_DIR}/pqxx/${header}" line REGEX "define +PQXX_VERSION +\"")
        string(REGEX REPLACE ".*\"([0-9.]+).*" "\\1" libpqxx_VERSION "${line}")
    endif()
endforeach()

# A connection that exists already can be given to 6.4, and again from 7.7.1 on.
unset(libpqxx_NOT_FOUND_MESSAGE)
if(libpqxx_VERSION VERSION_GREATER_EQUAL 7 AND libpqxx_VERSION VERSION_LESS 7.7.1)
    set(libpqxx_NOT_FOUND_MESSAGE
        "rowlock works with libpqxx 6.4, 7.7.1 or later, and this is libpqxx ${libpqxx_VERSION}")
elseif(libpqxx_VERSION VERSION_GREATER_EQUAL 8
        AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    set(libpqxx_NOT_FOUND_MESSAGE
        "libpqxx ${libpqxx_VERSION} needs gcc 13 or later, and this is gcc ${CMAKE_CXX_COMPILER_VERSION}")
endif()
set(libpqxx_IS_USABLE TRUE)
if(libpqxx_NOT_FOUND_MESSAGE)
    set(libpqxx_IS_USABLE FALSE)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libpqxx
    REQUIRED_VARS ${where} libpqxx_IS_USABLE
    VERSION_VAR libpqxx_VERSION
    REASON_FAILURE_MESSAGE "${libpqxx_NOT_FOUND_MESSAGE}")

if(libpqxx_FOUND AND NOT TARGET libpqxx::pqxx)
    add_library(libpqxx::pqxx UNKNOWN IMPORTED)
    set_target_properties(libpqxx::pqxx PROPERTIES
        IMPORTED_LOCATION "${libpqxx_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${libpqxx_INCLUDE_DIR}")
endif()
