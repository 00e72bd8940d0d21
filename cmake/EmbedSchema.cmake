# Writes OUTPUT, which defines rowlock::sheets::<DATABASE>_migrations() (src/sql/sheet.hpp), from FILES of
# FOLDER: their numbers, names, SHA256 sums and texts, byte for byte.
#
#   cmake -DDATABASE=sqlite -DFOLDER=schema/sqlite -DFILES="0001_rowlock.sql;..." -DOUTPUT=schema_sqlite.cpp -P EmbedSchema.cmake

cmake_minimum_required(VERSION 3.25)

set(delimiter "rowlock_schema")
set(longest_literal 65535)  # what a C++ compiler must take; -Wpedantic warns above

function(refuse sentence)
    message(FATAL_ERROR "schema/${DATABASE}/${sentence}")
endfunction()

# A file that was written and not listed would be missed only by the users' databases. What a role may do is an
# administrator's to say: grants.sql is run by hand only.
file(GLOB present RELATIVE "${FOLDER}" "${FOLDER}/*.sql")
list(REMOVE_ITEM present grants.sql)
foreach(name IN LISTS present)
    if(NOT name IN_LIST FILES)
        refuse("${name} is not listed in src/CMakeLists.txt.")
    endif()
endforeach()

set(expected 0)
set(entries "")
foreach(name IN LISTS FILES)
    math(EXPR expected "${expected} + 1")
    if(NOT name MATCHES "^[0-9][0-9][0-9][0-9]_[a-z0-9_]+\\.sql$")
        refuse("${name} is not named like 0001_lower_case.sql.")
    endif()
    string(REGEX REPLACE "^0*([0-9]+)_.*$" "\\1" version "${name}")
    if(NOT version EQUAL expected)
        refuse("${name} stands where number ${expected} is due: the numbers run from 1 without a gap.")
    endif()

    file(READ "${FOLDER}/${name}" text)
    file(SIZE "${FOLDER}/${name}" size)
    file(SHA256 "${FOLDER}/${name}" sha256)
    string(LENGTH "${text}" length)
    if(NOT length EQUAL size OR text MATCHES "\r")
        refuse("${name} holds a NUL or a carriage return: its text would not match its checksum.")
    elseif(size GREATER longest_literal)
        refuse("${name} has ${size} bytes; a string literal takes ${longest_literal}. Split it.")
    endif()
    string(FIND "${text}" ")${delimiter}\"" clash)
    if(NOT clash EQUAL -1)
        refuse("${name} contains )${delimiter}\", which ends the literal that it is embedded in.")
    endif()
    string(APPEND entries "    {${version}, \"${name}\", \"${sha256}\", R\"${delimiter}(${text})${delimiter}\"},\n")
endforeach()

if(expected EQUAL 0)
    set(body "  return {};\n")
else()
    set(body "  static constexpr migration migrations[] = {\n${entries}  };\n  return migrations;\n")
endif()

file(WRITE "${OUTPUT}" "// Written by cmake/EmbedSchema.cmake from schema/${DATABASE}/; changes here are lost.
#include \"sql/sheet.hpp\"

namespace rowlock::inline v1::sheets {

std::span<const migration> ${DATABASE}_migrations() {
${body}}

}  // namespace rowlock::inline v1::sheets
")
