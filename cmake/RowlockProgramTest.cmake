# rowlock_program_test(<test> COMMAND <target> <argument>... TIMEOUT <seconds> LABELS <label>...): a ctest that runs a
# program, by itself, in a folder that is empty at every start. It passes where the program exits with 0.
include_guard()

set(ROWLOCK_FRESH_FOLDER_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/RunInFreshFolder.cmake")

function(rowlock_program_test test)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "COMMAND;LABELS")
    list(POP_FRONT arg_COMMAND program)
    add_test(NAME ${test}
        COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${PROJECT_BINARY_DIR}/run/${test}" -P "${ROWLOCK_FRESH_FOLDER_SCRIPT}"
                -- "$<TARGET_FILE:${program}>" ${arg_COMMAND})
    set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()
