# `cpack -G DEB` in the build folder: a Debian package for each install component (RowlockInstall.cmake). It needs
# dpkg-dev and file.

set(CPACK_GENERATOR DEB)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGE_NAME rowlock)
set(CPACK_PACKAGE_CONTACT "The rowlock maintainers <maintainers@rowlock.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package begins its description with its own
set(CPACK_PACKAGING_INSTALL_PREFIX "/usr")
set(CPACK_STRIP_FILES ON)

# Folders would have the permissions that the umask of whoever packs them leaves.
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_BINARY_DIR}/generated/package_folders.cmake")
file(WRITE "${CPACK_PRE_BUILD_SCRIPTS}" [[
file(GLOB_RECURSE paths LIST_DIRECTORIES true "${CPACK_TEMPORARY_DIRECTORY}/*")
foreach(path IN LISTS paths)
    if(IS_DIRECTORY "${path}")
        file(CHMOD "${path}" PERMISSIONS
            OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    endif()
endforeach()
]])

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

# rowlock_package(<install component> NAME <package> SECTION <section> SUMMARY <line> DESCRIPTION <sentences>)
macro(rowlock_package component)
    cmake_parse_arguments(package "" "NAME;SECTION;SUMMARY;DESCRIPTION" "" ${ARGN})
    string(TOUPPER ${component} COMPONENT)
    list(APPEND CPACK_COMPONENTS_ALL ${component})
    set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${package_NAME})
    set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_SECTION ${package_SECTION})
    set(CPACK_DEBIAN_${COMPONENT}_DESCRIPTION "${package_SUMMARY}\n${package_DESCRIPTION}")
    if(ROWLOCK_LIBRARIES_ARE_SHARED AND NOT ${component} STREQUAL "runtime")
        set(CPACK_COMPONENT_${COMPONENT}_DEPENDS runtime)
    endif()
endmacro()

set(CPACK_COMPONENTS_ALL "")

if(TARGET rowlock_command)
    rowlock_package(command
        NAME rowlock
        SECTION utils
        SUMMARY "named locks on a database, for shell scripts"
        DESCRIPTION "Runs a command while holding a lock that lives in a database, and shows who holds which locks.")
    set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
endif()

if(ROWLOCK_LIBRARIES_ARE_SHARED)
    set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    rowlock_package(runtime
        NAME librowlock${soversion}
        SECTION libs
        SUMMARY "named locks on a database, shared libraries"
        DESCRIPTION "What programs that were linked with rowlock need to run.")
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
    set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
    # The command's package holds none of the libraries that the command needs.
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}")
endif()

rowlock_package(development
    NAME librowlock-dev
    SECTION libdevel
    SUMMARY "named locks on a database, to build programs with"
    DESCRIPTION "Headers and libraries, what CMake and pkg-config need to find them, and the tables' SQL.")
set(needs "")
if(ROWLOCK_WITH_SQLITE)
    list(APPEND needs libsqlite3-dev)
endif()
if(ROWLOCK_WITH_POSTGRESQL)
    list(APPEND needs libpqxx-dev libpq-dev)
endif()
if(ROWLOCK_WITH_MYSQL)
    list(APPEND needs libmysqlcppconn-dev)
endif()
list(JOIN needs ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)

include(CPack)
