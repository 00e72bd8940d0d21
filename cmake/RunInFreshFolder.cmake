# Runs what follows "--" in FOLDER, which is emptied first, and passes its failure on:
#
#   cmake -DFOLDER=build/run/x -P RunInFreshFolder.cmake -- program argument...

cmake_minimum_required(VERSION 3.25)

set(command "")
set(is_command FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
    if(is_command)
        list(APPEND command "${CMAKE_ARGV${i}}")
    elseif(CMAKE_ARGV${i} STREQUAL "--")
        set(is_command TRUE)
    endif()
endforeach()

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
execute_process(COMMAND ${command} WORKING_DIRECTORY "${FOLDER}" RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "Ended with: ${result}")
endif()
