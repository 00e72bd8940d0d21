# To be included after find_package(SQLite3): the target's name since CMake 4.3, where the other one is deprecated.
if(SQLite3_FOUND AND NOT TARGET SQLite3::SQLite3)
    add_library(SQLite3::SQLite3 INTERFACE IMPORTED)
    set_target_properties(SQLite3::SQLite3 PROPERTIES
        INTERFACE_LINK_LIBRARIES SQLite::SQLite3
        INTERFACE_INCLUDE_DIRECTORIES "${SQLite3_INCLUDE_DIRS}")
endif()
