# rowlock_names_in_sheets(<file>...): writes generated/sql/names.hpp from those sheets of SQL: what can be asked of a
# database, in the order of the first sheet, and what arguments and columns are called. Again whenever a sheet changes;
# the header only if a name does.
function(rowlock_names_in_sheets)
    set(verbs "")
    set(fields none)
    foreach(sheet IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${sheet}")
        set(verb "")
        file(STRINGS "${sheet}" lines REGEX "^-- (name|doing): ")
        foreach(line IN LISTS lines)
            if(line MATCHES "^-- name: ([a-z_]+)\\((.*)\\) -> (.*)$")
                set(verb ${CMAKE_MATCH_1})
                string(REPLACE ", " ";" words "${CMAKE_MATCH_2}, ${CMAKE_MATCH_3}")
                list(APPEND verbs ${verb})
                list(APPEND fields ${words})
            elseif(line MATCHES "^-- doing: (.*)$" AND NOT DEFINED doing_${verb})
                set(doing_${verb} "${CMAKE_MATCH_1}")
            endif()
        endforeach()
    endforeach()
    list(REMOVE_DUPLICATES verbs)
    list(REMOVE_DUPLICATES fields)
    list(REMOVE_ITEM fields "")

    set(activities "")
    foreach(verb IN LISTS verbs)
        string(APPEND activities "    \"${doing_${verb}}\",\n")
    endforeach()
    list(JOIN verbs ",\n  " verb_enumerators)
    list(JOIN verbs "\",\n    \"" verb_names)
    list(JOIN fields ",\n  " field_enumerators)
    list(JOIN fields "\",\n    \"" field_names)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/sql/names.hpp" @ONLY CONTENT [[
// Written by cmake/NamesInSheets.cmake from src/sql/*.sql; changes here are lost.
#pragma once

#include <cstdint>
#include <string_view>

namespace rowlock::inline v1::sheets {

/// What can be asked of a database. Its sheet says for each verb what it takes, does, answers and locks.
enum class verb : std::uint8_t {
  @verb_enumerators@,
  count_of_verbs
};

/// What arguments and columns are called, in all verbs and all databases.
enum class field : std::uint8_t {
  @field_enumerators@
};

inline constexpr std::string_view names_of_verbs[] = {
    "@verb_names@"};

inline constexpr std::string_view names_of_fields[] = {
    "@field_names@"};

inline constexpr const char* activities[] = {
@activities@};

}  // namespace rowlock::inline v1::sheets
]])
endfunction()
