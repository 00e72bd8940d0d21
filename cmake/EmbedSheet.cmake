# Writes OUTPUT, which defines rowlock::sheets::<DATABASE>_text() (src/sql/loader.hpp): the text of FILE, byte for byte. A
# string literal would be too short for it.
#
#   cmake -DDATABASE=sqlite -DFILE=src/sql/sqlite.sql -DOUTPUT=sheet_sqlite.cpp -P EmbedSheet.cmake

cmake_minimum_required(VERSION 3.25)

file(READ "${FILE}" text)
file(SIZE "${FILE}" size)
string(LENGTH "${text}" length)
if(NOT length EQUAL size OR text MATCHES "[^ -~\n]")
    message(FATAL_ERROR "${FILE} holds a tab, a carriage return or something else than printable ASCII.")
endif()

file(READ "${FILE}" bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(0x0a,)" "\\1\n" bytes "${bytes}")

file(WRITE "${OUTPUT}" "// Written by cmake/EmbedSheet.cmake from src/sql/${DATABASE}.sql; changes here are lost.
#include \"sql/loader.hpp\"

namespace rowlock::inline v1::sheets {

std::string_view ${DATABASE}_text() noexcept {
  static constexpr char text[] = {
${bytes}};
  return {text, sizeof(text)};
}

}  // namespace rowlock::inline v1::sheets
")
