# The target `site`: the guides, README, the other pages at the root and the manual of the command as HTML in site/ of the build
# folder, by mkdocs and its theme material, and the reference beside them (RowlockReference.cmake). It fails where mkdocs finds
# fault or a link of the site leads to nothing. No part of `all`; without mkdocs, Python or Doxygen there is no such target.

find_program(ROWLOCK_MKDOCS mkdocs)
find_package(Python3 QUIET COMPONENTS Interpreter)
if(NOT TARGET reference OR NOT ROWLOCK_MKDOCS OR NOT Python3_FOUND)
    return()
endif()

set(staged "${PROJECT_BINARY_DIR}/generated/site")
set(site "${PROJECT_BINARY_DIR}/site")
set(program "")
if(TARGET rowlock_command AND NOT ROWLOCK_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
    set(program "$<TARGET_FILE:rowlock_command>")
endif()
rowlock_doxyfile(doxyfile "${staged}/pages" site)
add_custom_target(site
    COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/cmake/stage_site.py" "${PROJECT_SOURCE_DIR}" "${staged}" ${program}
    # Among the pages, so that mkdocs finds what the menu names.
    COMMAND "${CMAKE_COMMAND}" -E chdir "${PROJECT_SOURCE_DIR}" "$<TARGET_FILE:Doxygen::doxygen>" "${doxyfile}"
    COMMAND "${CMAKE_COMMAND}" -E chdir "${staged}" "${ROWLOCK_MKDOCS}" build --strict --quiet --site-dir "${site}"
    # These need to know where the site is.
    COMMAND "${CMAKE_COMMAND}" -E rm -f "${site}/404.html" "${site}/sitemap.xml" "${site}/sitemap.xml.gz"
    COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/guides/site_links.py" "${site}"
    COMMENT "Writing the site"
    VERBATIM)
