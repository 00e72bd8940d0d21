vcpkg_download_distfile(ARCHIVE
    URLS "@URL@"
    FILENAME "rowlock-${VERSION}.tar.gz"
    SHA512 @SHA512@
)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${ARCHIVE}")

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES
        mysql       ROWLOCK_WITH_MYSQL
        postgresql  ROWLOCK_WITH_POSTGRESQL
        tools       ROWLOCK_BUILD_COMMAND
)
if("mysql" IN_LIST FEATURES)
    message(STATUS "rowlock[mysql] connects by MariaDB Connector/C. For MySQL Connector/C++ make an overlay port of this one, "
                   "without -DROWLOCK_MYSQL_DRIVER=mariadb-c, and install that connector's JDBC-style library.")
endif()

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        -DROWLOCK_WITH_SQLITE=ON
        -DROWLOCK_MYSQL_DRIVER=mariadb-c
        -DROWLOCK_INSTALL=ON
        -DROWLOCK_UNITY=ON
        -DROWLOCK_BUILD_TESTS=OFF
        -DROWLOCK_BUILD_EXAMPLES=OFF
        -DROWLOCK_BUILD_BENCH=OFF
    OPTIONS_DEBUG
        -DROWLOCK_BUILD_COMMAND=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/rowlock)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES rowlock AUTO_CLEAN)
endif()

file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/debug/include"
    "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/share/bash-completion"
    "${CURRENT_PACKAGES_DIR}/share/doc"
    "${CURRENT_PACKAGES_DIR}/share/fish"
    "${CURRENT_PACKAGES_DIR}/share/man"
    "${CURRENT_PACKAGES_DIR}/share/zsh"
)
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
