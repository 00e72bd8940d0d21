# The target `reference`: what the public headers and the guides say, as HTML in reference/ of the build folder, by Doxygen.
# It fails where Doxygen finds fault, public members without a comment included. No part of `all`; without Doxygen there
# is no such target.

find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
    return()
endif()

configure_file("${PROJECT_SOURCE_DIR}/cmake/Doxyfile.in" "${PROJECT_BINARY_DIR}/generated/Doxyfile" @ONLY)
add_custom_target(reference
    # What is not there any more would stay.
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${PROJECT_BINARY_DIR}/reference"
    COMMAND Doxygen::doxygen "${PROJECT_BINARY_DIR}/generated/Doxyfile"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Writing the reference"
    VERBATIM)
