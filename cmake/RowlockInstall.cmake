# What `cmake --install` copies, and how others find it: find_package(rowlock) and pkg-config. The installed tree can be
# moved; it knows no path but those inside it.
#
# Every file is part of one of these, which are also the Debian packages (RowlockPackages.cmake):
#
#   command       the program rowlock, its manual, its completion for shells, the guides, the examples and the schema
#   runtime       the shared libraries, where they are shared
#   development   headers, static libraries, and what the builds of others read; guides and schema where there is no command
#
# Each has the licence, at the same path: Debian's packages have their own (RowlockPackages.cmake).

# One build folder serves /usr/local and the packages below /usr. Debian's tools look into lib/<architecture> below
# both, GNUInstallDirs knows only the latter.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_INSTALL_LIBDIR AND CMAKE_INSTALL_PREFIX STREQUAL "/usr/local"
        AND CMAKE_LIBRARY_ARCHITECTURE AND EXISTS "/etc/debian_version")
    set(CMAKE_INSTALL_LIBDIR "lib/${CMAKE_LIBRARY_ARCHITECTURE}" CACHE PATH "Object code libraries")
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(ROWLOCK_CMAKE_FOLDER "${CMAKE_INSTALL_LIBDIR}/cmake/rowlock")
set(ROWLOCK_PKGCONFIG_FOLDER "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

get_target_property(type rowlock_core TYPE)
if(type STREQUAL "SHARED_LIBRARY")
    set(ROWLOCK_LIBRARIES_ARE_SHARED ON)
else()
    set(ROWLOCK_LIBRARIES_ARE_SHARED OFF)
endif()

# rowlock_way(<out> <from> <to>): between two folders of the prefix, for instance ../lib.
function(rowlock_way out from to)
    cmake_path(RELATIVE_PATH to BASE_DIRECTORY "${from}" OUTPUT_VARIABLE way)
    set(${out} "${way}" PARENT_SCOPE)
endfunction()

# rowlock_find_libraries_from(<target> <folder>): it looks for shared libraries beside itself, wherever that is.
function(rowlock_find_libraries_from target folder)
    if(ROWLOCK_LIBRARIES_ARE_SHARED AND NOT DEFINED CMAKE_INSTALL_RPATH)
        rowlock_way(way "${folder}" "${CMAKE_INSTALL_LIBDIR}")
        set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${way}")
    endif()
endfunction()

# rowlock_pkgconfig(<name> DESCRIPTION <sentence> [CFLAGS <flag>...] [LIBS <flag>...] [REQUIRES <package>...])
function(rowlock_pkgconfig name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "DESCRIPTION" "CFLAGS;LIBS;REQUIRES")
    rowlock_way(way_to_prefix "${ROWLOCK_PKGCONFIG_FOLDER}" "")
    list(JOIN arg_CFLAGS " " cflags)
    list(JOIN arg_LIBS " " libs)
    list(JOIN arg_REQUIRES ", " requires)
    set(file "${PROJECT_BINARY_DIR}/generated/${name}.pc")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/rowlock.pc.in" "${file}" @ONLY)
    install(FILES "${file}" DESTINATION "${ROWLOCK_PKGCONFIG_FOLDER}" COMPONENT development)
endfunction()

# rowlock_install_component(<component> DESCRIPTION <what it is>
#     [NEEDS "<package> [<version>]"...] [REQUIRES <pkg-config package>...] [CFLAGS <flag>...] [LIBS <flag>...])
#
# NEEDS for find_package, REQUIRES and LIBS for pkg-config: what whoever links it must find too. A shared library keeps
# that to itself. The driver, which is the first of NEEDS, has headers that a program may use beside either.
function(rowlock_install_component component)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "DESCRIPTION" "NEEDS;REQUIRES;CFLAGS;LIBS")
    set(library rowlock_${component})
    get_target_property(driver ${library} ROWLOCK_DRIVER)
    set(package_of_driver "")
    if(driver)
        string(REGEX MATCH "^[^ ]+" package_of_driver "${arg_NEEDS}")
    endif()
    if(ROWLOCK_LIBRARIES_ARE_SHARED)
        set(arg_NEEDS "")
        set(arg_REQUIRES "")
        set(arg_LIBS "")
    endif()

    install(TARGETS ${library}
        EXPORT rowlock-${component}-targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    rowlock_find_libraries_from(${library} "${CMAKE_INSTALL_LIBDIR}")

    install(EXPORT rowlock-${component}-targets
        NAMESPACE rowlock::
        DESTINATION "${ROWLOCK_CMAKE_FOLDER}"
        COMPONENT development)
    list(TRANSFORM arg_NEEDS REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE needs)
    list(JOIN needs " " needs)
    set(libpqxx_series "")
    if(needs MATCHES libpqxx)
        string(REGEX MATCH "^[0-9]+[.][0-9]+" libpqxx_series "${libpqxx_VERSION}")
    endif()
    set(file "${PROJECT_BINARY_DIR}/generated/rowlock-${component}.cmake")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/rowlock-component.cmake.in" "${file}" @ONLY)
    install(FILES "${file}" DESTINATION "${ROWLOCK_CMAKE_FOLDER}" COMPONENT development)

    if(component STREQUAL "core")
        set(flags -lrowlock_core)
    else()
        rowlock_backend_flags(flags ${component})
        list(PREPEND arg_REQUIRES "rowlock-core = ${PROJECT_VERSION}")
    endif()
    rowlock_pkgconfig(rowlock-${component}
        DESCRIPTION "${arg_DESCRIPTION}"
        CFLAGS ${arg_CFLAGS}
        LIBS ${flags} ${arg_LIBS}
        REQUIRES ${arg_REQUIRES})
endfunction()

# --- the library ------------------------------------------------------------------------------------------------------

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/rowlock"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    COMPONENT development
    FILES_MATCHING PATTERN "*.hpp")

rowlock_install_component(core
    DESCRIPTION "Named locks on databases, without any database's backend"
    NEEDS Threads
    LIBS -pthread)
set(components core)

if(ROWLOCK_WITH_SQLITE)
    rowlock_install_component(sqlite
        DESCRIPTION "Named locks on SQLite"
        NEEDS "SQLite3 3.35"
        REQUIRES "sqlite3 >= 3.35")
    install(FILES "${PROJECT_SOURCE_DIR}/cmake/SQLite3Target.cmake"
        DESTINATION "${ROWLOCK_CMAKE_FOLDER}"
        COMPONENT development)
    list(APPEND components sqlite)
endif()

if(ROWLOCK_WITH_POSTGRESQL)
    find_package(libpqxx REQUIRED)  # its version
    rowlock_install_component(postgresql
        DESCRIPTION "Named locks on PostgreSQL"
        NEEDS "libpqxx 6.4" PostgreSQL
        REQUIRES libpqxx libpq)
    install(FILES "${PROJECT_SOURCE_DIR}/cmake/Findlibpqxx.cmake"
        DESTINATION "${ROWLOCK_CMAKE_FOLDER}"
        COMPONENT development)
    list(APPEND components postgresql)
endif()

if(ROWLOCK_WITH_MYSQL)
    find_package(${ROWLOCK_MYSQL_PACKAGE} REQUIRED)
    if(ROWLOCK_MYSQL_DRIVER STREQUAL "mariadb-c")
        set(flags REQUIRES libmariadb)
    else()
        # This connector has no file for pkg-config.
        set(folders ${MySQLConnectorCPP_INCLUDE_DIRS})
        list(REMOVE_ITEM folders ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
        list(TRANSFORM folders PREPEND -I OUTPUT_VARIABLE cflags)
        cmake_path(GET MySQLConnectorCPP_LIBRARY PARENT_PATH folders)
        list(REMOVE_ITEM folders ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
        list(TRANSFORM folders PREPEND -L OUTPUT_VARIABLE libs)
        set(flags CFLAGS ${cflags} LIBS ${libs} -lmysqlcppconn)
    endif()
    list(JOIN ROWLOCK_MYSQL_PACKAGE " " package)
    rowlock_install_component(mysql
        DESCRIPTION "Named locks on MySQL and MariaDB"
        NEEDS "${package}"
        ${flags})
    list(GET ROWLOCK_MYSQL_PACKAGE 0 package)
    install(FILES "${PROJECT_SOURCE_DIR}/cmake/Find${package}.cmake"
        DESTINATION "${ROWLOCK_CMAKE_FOLDER}"
        COMPONENT development)
    list(APPEND components mysql)
endif()

# --- the umbrella -----------------------------------------------------------------------------------------------------

list(TRANSFORM components PREPEND rowlock- OUTPUT_VARIABLE requires)
list(TRANSFORM requires APPEND " = ${PROJECT_VERSION}")
rowlock_pkgconfig(rowlock
    DESCRIPTION "${PROJECT_DESCRIPTION}"
    REQUIRES ${requires})

configure_file("${PROJECT_SOURCE_DIR}/cmake/rowlock-config.cmake.in"
    "${PROJECT_BINARY_DIR}/generated/rowlock-config.cmake" @ONLY)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/generated/rowlock-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES
        "${PROJECT_BINARY_DIR}/generated/rowlock-config.cmake"
        "${PROJECT_BINARY_DIR}/generated/rowlock-config-version.cmake"
    DESTINATION "${ROWLOCK_CMAKE_FOLDER}"
    COMPONENT development)

# --- the command ------------------------------------------------------------------------------------------------------

if(TARGET rowlock_command)
    install(TARGETS rowlock_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT command)
    rowlock_find_libraries_from(rowlock_command "${CMAKE_INSTALL_BINDIR}")
    get_target_property(pages rowlock_command ROWLOCK_MAN_PAGES)
    get_target_property(completion rowlock_command ROWLOCK_BASH_COMPLETION)
    get_target_property(completion_for_zsh rowlock_command ROWLOCK_ZSH_COMPLETION)
    get_target_property(completion_for_fish rowlock_command ROWLOCK_FISH_COMPLETION)
    if(pages AND completion)
        install(FILES ${pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT command)
        install(FILES "${completion}"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
            COMPONENT command)
        install(FILES "${completion_for_zsh}"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions"
            COMPONENT command)
        install(FILES "${completion_for_fish}"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d"
            COMPONENT command)
    endif()
endif()

# --- what is read -----------------------------------------------------------------------------------------------------

set(install_components development)
if(ROWLOCK_LIBRARIES_ARE_SHARED)
    list(APPEND install_components runtime)
endif()
if(TARGET rowlock_command)
    list(APPEND install_components command)
endif()
foreach(component IN LISTS install_components)
    install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT ${component})
endforeach()

set(ROWLOCK_SCHEMA_FOLDER "${CMAKE_INSTALL_DATADIR}/rowlock/schema")
if(TARGET rowlock_command)
    set(ROWLOCK_GUIDES_COMPONENT command)
else()
    set(ROWLOCK_GUIDES_COMPONENT development)
endif()
include(RowlockGuides)
