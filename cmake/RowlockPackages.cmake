# `cpack -G DEB` in the build folder: a Debian package for each install component (RowlockInstall.cmake). It needs
# dpkg-dev and file.

set(CPACK_GENERATOR DEB)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_NAME rowlock)
set(CPACK_PACKAGE_CONTACT "The rowlock maintainers <maintainers@rowlock.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package begins its description with its own
set(CPACK_PACKAGING_INSTALL_PREFIX "/usr")
set(CPACK_STRIP_FILES ON)

set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_BINARY_DIR}/generated/debian_files.cmake")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

# rowlock_package(<install component> NAME <package> SECTION <section> SUMMARY <part of a line> DESCRIPTION <sentences>)
#
# All of them say first what rowlock is. The lines are broken as CPack takes them: an empty one ends a paragraph.
macro(rowlock_package component)
    cmake_parse_arguments(package "" "NAME;SECTION;SUMMARY;DESCRIPTION" "" ${ARGN})
    string(TOUPPER ${component} COMPONENT)
    list(APPEND CPACK_COMPONENTS_ALL ${component})
    set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${package_NAME})
    set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_SECTION ${package_SECTION})
    set(CPACK_DEBIAN_${COMPONENT}_DESCRIPTION "named locks on a database - ${package_SUMMARY}
rowlock gives processes on one or many hosts named locks in a database that
they have already: PostgreSQL, MySQL, MariaDB or, for the processes of one
host, SQLite. A lock is a lease that is renewed while it is held, or a
transaction that stays open. Every grant has a fencing token, which grows, and
waiters are served from a queue in the database.

${package_DESCRIPTION}")
    if(ROWLOCK_LIBRARIES_ARE_SHARED AND NOT ${component} STREQUAL "runtime")
        set(CPACK_COMPONENT_${COMPONENT}_DEPENDS runtime)
    endif()
endmacro()

set(CPACK_COMPONENTS_ALL "")

if(TARGET rowlock_command)
    rowlock_package(command
        NAME rowlock
        SECTION utils
        SUMMARY "command"
        DESCRIPTION "This package contains the command rowlock. It runs a job while it holds a lock,
for instance a cron job that several hosts have, lists holders and waiters,
frees locks by force, makes and upgrades the tables, sweeps unused rows and
writes metrics. With it come the guides, the tables' SQL, examples of programs
and systemd units, a dashboard for Grafana and alert rules for Prometheus.")
    set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
endif()

if(ROWLOCK_LIBRARIES_ARE_SHARED)
    set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    rowlock_package(runtime
        NAME librowlock${soversion}
        SECTION libs
        SUMMARY "shared libraries"
        DESCRIPTION "This package contains the shared libraries that programs need which were
linked with rowlock.")
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
    set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
    # As Debian has it today; CPack itself adds scripts that call ldconfig.
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/generated/triggers")
    file(WRITE "${CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA}" "activate-noawait ldconfig\n")
    # The command's package holds none of the libraries that the command needs.
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
endif()

rowlock_package(development
    NAME librowlock-dev
    SECTION libdevel
    SUMMARY "development files"
    DESCRIPTION "This package contains the headers and libraries to build C++20 programs with,
and the files by which CMake and pkg-config find them. The guides and the
tables' SQL are in the package rowlock.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS rowlock)
set(needs "")
if(ROWLOCK_WITH_SQLITE)
    list(APPEND needs libsqlite3-dev)
endif()
if(ROWLOCK_WITH_POSTGRESQL)
    list(APPEND needs libpqxx-dev libpq-dev)
endif()
if(ROWLOCK_WITH_MYSQL)
    list(APPEND needs ${ROWLOCK_MYSQL_DEBIAN_PACKAGE})
endif()
list(JOIN needs ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)

# --- files that Debian wants in each package --------------------------------------------------------------------------

# The licence as a copyright file in Debian's machine-readable format.
file(READ "${PROJECT_SOURCE_DIR}/LICENSE" licence)
string(REGEX MATCH "Copyright \\(c\\) ([^\n]+)\n\n(.+)\n$" unused "${licence}")
set(copyright "${CMAKE_MATCH_1}")
string(REGEX REPLACE "\n" "\n " licence_text " ${CMAKE_MATCH_2}")
string(REGEX REPLACE "\n \n" "\n .\n" licence_text "${licence_text}")
file(WRITE "${PROJECT_BINARY_DIR}/generated/copyright"
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ${PROJECT_NAME}
Upstream-Contact: ${CPACK_PACKAGE_CONTACT}

Files: *
Copyright: ${copyright}
License: Expat

License: Expat
${licence_text}
")

string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # or what SOURCE_DATE_EPOCH says
file(WRITE "${PROJECT_BINARY_DIR}/generated/changelog"
"${PROJECT_NAME} (${PROJECT_VERSION}) unstable; urgency=medium

  * Version ${PROJECT_VERSION}. CHANGELOG.md, which the package rowlock installs,
    tells what a user would notice.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")

set(package_names "")
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} COMPONENT)
    list(APPEND package_names "${component}:${CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME}")
endforeach()
configure_file("${PROJECT_SOURCE_DIR}/cmake/debian_files.cmake.in" "${CPACK_PRE_BUILD_SCRIPTS}" @ONLY)

include(CPack)
