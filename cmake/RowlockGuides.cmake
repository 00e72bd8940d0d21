# What is read beside the program: README.md, CHANGELOG.md, the guides, the examples, and the files for dashboards and alerts,
# installed with the layout of the sources, so that their links lead somewhere. A link to what is not installed, as a test,
# becomes its text.

set(guides "${PROJECT_BINARY_DIR}/generated/guides")
file(REMOVE_RECURSE "${guides}")

# A new page is taken without being listed.
file(GLOB pages RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/*.md" "${PROJECT_SOURCE_DIR}/docs/*.md" "${PROJECT_SOURCE_DIR}/packaging/*.md")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pages})
set(not_installed "[.]ci|bench|cmake|demo|include|src|testkit|tests|[a-z]+[.]sh")
foreach(page IN LISTS pages)
    file(READ "${PROJECT_SOURCE_DIR}/${page}" text)
    string(REGEX REPLACE "\\[([^]\n]*)\\]\\((\\.\\./)*(${not_installed})[^) \n]*\\)" "\\1" text "${text}")
    file(WRITE "${guides}/${page}" "${text}")
endforeach()

# The units are in examples/, where Debian's packages have such files; the schema is where programs look for data.
cmake_path(RELATIVE_PATH ROWLOCK_SCHEMA_FOLDER BASE_DIRECTORY "${CMAKE_INSTALL_DOCDIR}" OUTPUT_VARIABLE way)
file(CREATE_LINK "../examples/systemd" "${guides}/docs/systemd" SYMBOLIC)
file(CREATE_LINK "${way}" "${guides}/schema" SYMBOLIC)

install(DIRECTORY "${guides}/" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT ${ROWLOCK_GUIDES_COMPONENT})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/systemd" "${PROJECT_SOURCE_DIR}/examples/"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples"
    COMPONENT ${ROWLOCK_GUIDES_COMPONENT}
    FILES_MATCHING PATTERN "*.cpp" PATTERN "*.service" PATTERN "*.timer")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/images"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs"
    COMPONENT ${ROWLOCK_GUIDES_COMPONENT})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/packaging/grafana" "${PROJECT_SOURCE_DIR}/packaging/prometheus"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}/packaging"
    COMPONENT ${ROWLOCK_GUIDES_COMPONENT}
    FILES_MATCHING PATTERN "*.json" PATTERN "*.yml")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/schema/"
    DESTINATION "${ROWLOCK_SCHEMA_FOLDER}"
    COMPONENT ${ROWLOCK_GUIDES_COMPONENT}
    FILES_MATCHING PATTERN "*.sql")
