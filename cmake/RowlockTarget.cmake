# How our own targets are compiled: rowlock_target(<target>) for each of them. Nothing here reaches a user's targets.

if(ROWLOCK_SANITIZE)
    add_compile_options(-fsanitize=${ROWLOCK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${ROWLOCK_SANITIZE})
    # What -fsanitize=function puts before coroutines of templates does not assemble with clang 14.
    add_compile_options($<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
endif()

function(rowlock_target target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    set_target_properties(${target} PROPERTIES
        CXX_EXTENSIONS OFF
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
        $<$<BOOL:${ROWLOCK_WERROR}>:-Werror>)
endfunction()

# rowlock_unity(<target> <number>): so many of its sources at a time, where that was chosen. Names of one source then hide
# those of another, which is no fault.
function(rowlock_unity target number)
    if(ROWLOCK_UNITY)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${number})
        target_compile_options(${target} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    endif()
endfunction()

# rowlock_program(<target>): a program whose speed is not measured.
function(rowlock_program target)
    rowlock_target(${target})
    rowlock_unity(${target} 8)
endfunction()

# rowlock_asio(<target>): it uses Asio. With clang, Asio before 1.24 does not see that libstdc++ has coroutines.
function(rowlock_asio target)
    target_include_directories(${target} SYSTEM PRIVATE "${Asio_INCLUDE_DIR}")
    foreach(macro IN ITEMS ASIO_HAS_CO_AWAIT ASIO_HAS_STD_COROUTINE)
        target_compile_definitions(${target} PRIVATE
            $<$<CXX_COMPILER_ID:Clang>:${macro}=1> $<$<CXX_COMPILER_ID:Clang>:BOOST_${macro}=1>)
    endforeach()
endfunction()

# rowlock_component(<component> SOURCES <file>...): the library rowlock_<component>, known as rowlock::<component>.
function(rowlock_component component)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
    set(library rowlock_${component})
    add_library(${library} ${arg_SOURCES})
    add_library(rowlock::${component} ALIAS ${library})
    rowlock_target(${library})
    rowlock_unity(${library} 16)
    set_target_properties(${library} PROPERTIES
        EXPORT_NAME ${component}
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    target_include_directories(${library}
        PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
        PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_BINARY_DIR}/generated")
    # A shared library that uses what another one hides fails here and not in the user's program. Sanitizers leave
    # their runtime undefined on purpose.
    if(BUILD_SHARED_LIBS AND NOT ROWLOCK_SANITIZE)
        target_link_options(${library} PRIVATE LINKER:-z,defs)
    endif()
endfunction()

# rowlock_driver(<component> <target>): its driver, whose headers the component's own for callers' transactions includes.
function(rowlock_driver component driver)
    set(library rowlock_${component})
    target_link_libraries(${library} PRIVATE ${driver})
    get_target_property(headers ${driver} INTERFACE_INCLUDE_DIRECTORIES)
    if(headers)
        target_include_directories(${library} SYSTEM INTERFACE "$<BUILD_INTERFACE:${headers}>")
    endif()
    set_target_properties(${library} PROPERTIES ROWLOCK_DRIVER ${driver})
endfunction()

# rowlock_backend(<component>): makes a program that links it keep its entry in the table of compiled-in backends
# (src/driver/backends.cpp.in).
#
# The table refers to it weakly, so that a program may link the core and only the backends it wants. But for a weak
# reference the linker neither pulls a member out of an archive nor, with --as-needed, records a shared library.
function(rowlock_backend component)
    set(library rowlock_${component})
    get_target_property(type ${library} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
        target_link_options(${library} INTERFACE
            "LINKER:--push-state,--no-as-needed,$<TARGET_FILE:$<TARGET_NAME:${library}>>,--pop-state")
    else()
        target_link_options(${library} INTERFACE LINKER:-u,rowlock_backend_${component})
    endif()
endfunction()

# rowlock_backend_flags(<out> <component>): the same for those who are no CMake build: the flags that link it so.
function(rowlock_backend_flags out component)
    set(library rowlock_${component})
    get_target_property(type ${library} TYPE)
    if(type STREQUAL "SHARED_LIBRARY")
        set(${out} -Wl,--push-state,--no-as-needed,-l${library},--pop-state PARENT_SCOPE)
    else()
        set(${out} -Wl,-u,rowlock_backend_${component} -l${library} PARENT_SCOPE)
    endif()
endfunction()

# rowlock_backend_table(<out-source> <component>...): writes the table at configure time.
function(rowlock_backend_table out_source)
    foreach(component IN LISTS ARGN)
        set(entry rowlock_backend_${component})
        string(APPEND ROWLOCK_BACKEND_DECLARATIONS
            "extern \"C\" [[gnu::weak]] const rowlock::driver::backend* ${entry}();\n")
        string(APPEND ROWLOCK_BACKEND_NAMES "    {\"${component}\", ${entry}},\n")
    endforeach()
    set(source "${PROJECT_BINARY_DIR}/generated/backends.cpp")
    configure_file("${PROJECT_SOURCE_DIR}/src/driver/backends.cpp.in" "${source}" @ONLY)
    set(${out_source} "${source}" PARENT_SCOPE)
endfunction()

# rowlock_embed_schema(<out-source> <database> <file>...): a build step that turns schema/<database>/<file>... into a
# source, again whenever one of them changes.
function(rowlock_embed_schema out_source database)
    set(source "${PROJECT_BINARY_DIR}/generated/schema_${database}.cpp")
    set(script "${PROJECT_SOURCE_DIR}/cmake/EmbedSchema.cmake")
    set(folder "${PROJECT_SOURCE_DIR}/schema/${database}")
    list(TRANSFORM ARGN PREPEND "${folder}/" OUTPUT_VARIABLE files)
    add_custom_command(
        OUTPUT "${source}"
        COMMAND "${CMAKE_COMMAND}" "-DDATABASE=${database}" "-DFOLDER=${folder}" "-DFILES=${ARGN}" "-DOUTPUT=${source}"
                -P "${script}"
        DEPENDS ${files} "${script}"
        COMMENT "Embedding schema/${database}"
        VERBATIM)
    set(${out_source} "${source}" PARENT_SCOPE)
endfunction()

# rowlock_embed_sheet(<out-source> <database>): the same for src/sql/<database>.sql, all statements of that database.
function(rowlock_embed_sheet out_source database)
    set(source "${PROJECT_BINARY_DIR}/generated/sheet_${database}.cpp")
    set(script "${PROJECT_SOURCE_DIR}/cmake/EmbedSheet.cmake")
    set(file "${PROJECT_SOURCE_DIR}/src/sql/${database}.sql")
    add_custom_command(
        OUTPUT "${source}"
        COMMAND "${CMAKE_COMMAND}" "-DDATABASE=${database}" "-DFILE=${file}" "-DOUTPUT=${source}" -P "${script}"
        DEPENDS "${file}" "${script}"
        COMMENT "Embedding src/sql/${database}.sql"
        VERBATIM)
    set(${out_source} "${source}" PARENT_SCOPE)
endfunction()
