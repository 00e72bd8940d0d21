# The target `reference`: the public headers as HTML in reference/ of the build folder, by Doxygen. It fails where Doxygen
# finds fault, public members without a comment included. No part of `all`; without Doxygen there is no such target.

find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
    return()
endif()

# rowlock_doxyfile(<out> <folder> [<section>]): the reference goes to <folder>/reference, and has what its main page says in
# \if <section>, and a link to the guides on each page.
function(rowlock_doxyfile out folder)
    set(ROWLOCK_REFERENCE_FOLDER "${folder}")
    set(ROWLOCK_REFERENCE_SECTION "${ARGN}")
    set(ROWLOCK_REFERENCE_STYLES cmake/reference/reference.css)
    set(ROWLOCK_REFERENCE_LAYOUT)
    if(ARGN)
        set(ROWLOCK_REFERENCE_LAYOUT cmake/reference/layout.xml)
    endif()
    # Later ones follow the system's palette without that.
    if(DOXYGEN_VERSION VERSION_LESS 1.9.6)
        string(APPEND ROWLOCK_REFERENCE_STYLES " cmake/reference/dark.css")
    endif()
    set(file "${PROJECT_BINARY_DIR}/generated/Doxyfile${ARGN}")
    configure_file("${PROJECT_SOURCE_DIR}/cmake/Doxyfile.in" "${file}" @ONLY)
    set(${out} "${file}" PARENT_SCOPE)
endfunction()

rowlock_doxyfile(doxyfile "${PROJECT_BINARY_DIR}")
add_custom_target(reference
    # Pages of headers that are gone would stay.
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${PROJECT_BINARY_DIR}/reference"
    COMMAND Doxygen::doxygen "${doxyfile}"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Writing the reference"
    VERBATIM)
