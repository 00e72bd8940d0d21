# Every ```cpp block of README.md and docs/*.md is compiled, so that no example can lie.
#
# A block with `int main` becomes a program and the ctest <page>_<n>: readme_1, docs_guide_2. Any other block becomes
# the body of `void <page>_<n>(rowlock::client& locks)`, its #include lines moved in front. ```cpp ignore is left out.
# ```cpp for <what> defines something: all such blocks of a page are together the file <page>_<what>.inc, which a test
# includes, to run it (tests/transaction/transactions_page_test.cpp).
# A changed page makes CMake configure again; only blocks that changed are compiled again.
#
# The ```sh and ```crontab blocks of a page are run with the built programs: the ctest <page>_sh; those "for postgresql"
# and "for mysql" against the servers of the tests: <page>_sh_postgresql, <page>_sh_mysql (tests/guides/run.sh). Those "for
# debian" install packages, so they are not run here. An ```ini block "of" a file shows all of that file, and units are what
# systemd takes (tests/guides/).

include(RowlockProgramTest)

set(ROWLOCK_GUIDES_FOLDER "${PROJECT_SOURCE_DIR}/tests/guides")

# What a block may take for granted when it is no whole program.
set(ROWLOCK_SNIPPET_PRELUDE [[
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <mutex>
#include <optional>
#include <rowlock/rowlock.hpp>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
]])

# A coroutine that runs by itself, for blocks that are no whole program and no part of one.
set(ROWLOCK_SNIPPET_TASK [[

#ifndef SNIPPET_TASK  // several blocks may be compiled together
#define SNIPPET_TASK
namespace {
struct task {
  struct promise_type {
    task get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};
}  // namespace
#endif
]])

function(rowlock_write_if_different path text)
    set(before "")
    if(EXISTS "${path}")
        file(READ "${path}" before)
    endif()
    if(NOT before STREQUAL text)
        file(WRITE "${path}" "${text}")
    endif()
endfunction()

function(rowlock_count_lines out text)
    string(REGEX MATCHALL "\n" breaks "${text}")
    list(LENGTH breaks count)
    set(${out} ${count} PARENT_SCOPE)
endfunction()

# The source of one block. #line makes the compiler speak of the page.
function(rowlock_snippet_source out name is_program code page line)
    set(located "#line ${line} \"${page}\"\n")
    if(is_program)
        set(${out} "${located}${code}\n" PARENT_SCOPE)
        return()
    endif()
    set(include_line "#include [^\n]*")
    string(REGEX MATCHALL "${include_line}" includes "${code}")
    list(JOIN includes "\n" includes)
    string(REGEX REPLACE "${include_line}" "" body "${code}")
    set(${out} "${ROWLOCK_SNIPPET_PRELUDE}${includes}${ROWLOCK_SNIPPET_TASK}

using namespace std::chrono_literals;

void ${name}([[maybe_unused]] rowlock::client& locks) {
  {  // so that a block may have a `locks` of its own
${located}${body}
  }
}
" PARENT_SCOPE)
endfunction()

# Examples need not use what they show.
function(rowlock_snippet_target target)
    rowlock_program(${target})
    target_compile_options(${target} PRIVATE -Wno-unused-variable -Wno-unused-but-set-variable -Wno-unused-parameter
        -Wno-shadow)
    target_link_libraries(${target} PRIVATE rowlock::rowlock)
endfunction()

function(rowlock_page_snippets page)
    cmake_path(GET page STEM stem)
    cmake_path(GET page PARENT_PATH folder)
    string(TOLOWER "${folder}_${stem}" prefix)
    string(MAKE_C_IDENTIFIER "${prefix}" prefix)
    string(REGEX REPLACE "^_" "" prefix "${prefix}")

    file(READ "${PROJECT_SOURCE_DIR}/${page}" text)
    string(PREPEND text "\n")
    if(text MATCHES "\n[ \t]+```cpp")
        message(FATAL_ERROR "${page} has an indented \`\`\`cpp block, which would not be tested: begin it at the margin.")
    endif()

    set(n 0)
    set(included "")  # names of .inc files
    set(line 0)  # of the page, where text begins now
    while(TRUE)
        string(FIND "${text}" "\n```cpp" at)
        if(at EQUAL -1)
            break()
        endif()
        math(EXPR at "${at} + 7")
        string(SUBSTRING "${text}" 0 ${at} skipped)
        string(SUBSTRING "${text}" ${at} -1 text)
        rowlock_count_lines(lines "${skipped}")
        math(EXPR line "${line} + ${lines}")

        string(FIND "${text}" "\n" at)
        string(FIND "${text}" "\n```" end)
        if(at EQUAL -1 OR end EQUAL -1)
            message(FATAL_ERROR "The block at ${page}:${line} has no end.")
        endif()
        string(SUBSTRING "${text}" 0 ${at} info)
        string(STRIP "${info}" info)
        string(SUBSTRING "${text}" 0 ${end} block)
        string(SUBSTRING "${text}" ${end} -1 text)
        string(SUBSTRING "${block}" ${at} -1 code)
        math(EXPR first "${line} + 1")
        rowlock_count_lines(lines "${block}")
        math(EXPR line "${line} + ${lines}")
        string(REGEX REPLACE "^\n" "" code "${code}")

        math(EXPR n "${n} + 1")
        if(info STREQUAL "ignore")
            continue()
        elseif(info MATCHES "^for ([a-z_]+)$")
            set(name ${prefix}_${CMAKE_MATCH_1})
            string(APPEND content_of_${name} "#line ${first} \"${page}\"\n${code}\n")
            list(APPEND included ${name})
            continue()
        elseif(NOT info STREQUAL "")
            message(FATAL_ERROR "The block at ${page}:${line} begins with \`\`\`cpp ${info}; "
                                "there is \`\`\`cpp, \`\`\`cpp ignore and \`\`\`cpp for <what>.")
        endif()

        set(name ${prefix}_${n})
        set(source "${PROJECT_BINARY_DIR}/generated/snippets/${name}.cpp")
        string(REGEX MATCH "int main *\\(" is_program "${code}")
        rowlock_snippet_source(content ${name} "${is_program}" "${code}" "${page}" ${first})
        rowlock_write_if_different("${source}" "${content}")
        if(is_program)
            add_executable(${name} "${source}")
            rowlock_program_test(${name} COMMAND ${name} TIMEOUT 60 LABELS readme)
            rowlock_snippet_target(${name})
        else()
            target_sources(rowlock_snippets PRIVATE "${source}")
        endif()
    endwhile()

    list(REMOVE_DUPLICATES included)
    foreach(name IN LISTS included)
        rowlock_write_if_different("${PROJECT_BINARY_DIR}/generated/snippets/${name}.inc"
            "${ROWLOCK_SNIPPET_PRELUDE}${content_of_${name}}")
    endforeach()
endfunction()

# rowlock_page_script(<page> <database> <what is behind "sh" and "crontab" in its blocks>)
function(rowlock_page_script page database behind)
    file(READ "${PROJECT_SOURCE_DIR}/${page}" text)
    if(NOT "\n${text}" MATCHES "\n```(sh|crontab)${behind}\n")
        return()
    endif()
    cmake_path(GET page STEM LAST_ONLY stem)
    string(TOLOWER "${stem}_sh${behind}" test)
    string(REPLACE " for " "_" test "${test}")
    add_test(NAME ${test}
        COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${PROJECT_BINARY_DIR}/run/${test}" -P "${ROWLOCK_FRESH_FOLDER_SCRIPT}"
                -- bash "${ROWLOCK_GUIDES_FOLDER}/run.sh" "${PROJECT_SOURCE_DIR}/${page}" ${database})
    set_tests_properties(${test} PROPERTIES
        LABELS readme
        TIMEOUT 60
        SKIP_REGULAR_EXPRESSION "Skipped: ROWLOCK_TEST_"
        ENVIRONMENT_MODIFICATION "PATH=path_list_prepend:${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
endfunction()

# The one glob of the build: a page that nobody listed would go untested.
file(GLOB pages RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/docs/*.md")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pages})
add_library(rowlock_snippets OBJECT)
rowlock_snippet_target(rowlock_snippets)
foreach(page IN LISTS pages)
    rowlock_page_snippets("${page}")
    if(NOT TARGET rowlock_command)
        continue()
    endif()
    if(ROWLOCK_WITH_SQLITE)
        rowlock_page_script("${page}" sqlite "")
    endif()
    if(ROWLOCK_WITH_POSTGRESQL)
        rowlock_page_script("${page}" postgresql " for postgresql")
    endif()
    if(ROWLOCK_WITH_MYSQL)
        rowlock_page_script("${page}" mysql " for mysql")
    endif()
endforeach()

add_test(NAME guides_point_to_what_is_there COMMAND bash "${ROWLOCK_GUIDES_FOLDER}/shown.sh")
set_tests_properties(guides_point_to_what_is_there PROPERTIES LABELS readme TIMEOUT 180)
if(TARGET rowlock_command AND ROWLOCK_WITH_SQLITE)
    add_test(NAME guides_units
        COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${PROJECT_BINARY_DIR}/run/guides_units" -P "${ROWLOCK_FRESH_FOLDER_SCRIPT}"
                -- bash "${ROWLOCK_GUIDES_FOLDER}/units.sh" "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    set_tests_properties(guides_units PROPERTIES LABELS readme TIMEOUT 180)
    add_test(NAME guides_options
        COMMAND bash "${ROWLOCK_GUIDES_FOLDER}/options.sh" "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    set_tests_properties(guides_options PROPERTIES LABELS readme TIMEOUT 180)
    add_test(NAME guides_sections
        COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${PROJECT_BINARY_DIR}/run/guides_sections" -P "${ROWLOCK_FRESH_FOLDER_SCRIPT}"
                -- bash "${ROWLOCK_GUIDES_FOLDER}/sections.sh" "${PROJECT_SOURCE_DIR}/docs/cron.md")
    set_tests_properties(guides_sections PROPERTIES
        LABELS readme
        TIMEOUT 240
        COST 60
        ENVIRONMENT_MODIFICATION "PATH=path_list_prepend:${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
endif()
