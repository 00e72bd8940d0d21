# An overlay port: it builds the tree that it is in. In a registry, vcpkg_from_git or the like sets SOURCE_PATH, with the
# commit of the release.
cmake_path(SET SOURCE_PATH NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../../..")

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES
        sqlite      ROWLOCK_WITH_SQLITE
        postgresql  ROWLOCK_WITH_POSTGRESQL
        mysql       ROWLOCK_WITH_MYSQL
        tool        ROWLOCK_BUILD_COMMAND
)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        -DROWLOCK_INSTALL=ON
        -DROWLOCK_BUILD_TESTS=OFF
        -DROWLOCK_BUILD_EXAMPLES=OFF
        -DROWLOCK_BUILD_BENCH=OFF
    OPTIONS_DEBUG
        -DROWLOCK_BUILD_COMMAND=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/rowlock)
vcpkg_fixup_pkgconfig()
if("tool" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES rowlock AUTO_CLEAN)
endif()

file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/debug/include"
    "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/share/bash-completion"
    "${CURRENT_PACKAGES_DIR}/share/doc"
    "${CURRENT_PACKAGES_DIR}/share/man"
)
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
