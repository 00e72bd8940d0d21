# cmake -DARCHIVE=<file> -DURL=<address> -DHOMEPAGE=<address> -DTO=<folder> -P packaging/release.cmake
#
# Writes the recipe for Conan to <folder>/recipes/rowlock and the port for vcpkg to <folder>/ports/rowlock, as
# conan-center-index and vcpkg want them: for this version, with where its archive is and the archive's hashes. All that
# depends on an address is filled in here.
cmake_minimum_required(VERSION 3.25)

foreach(variable IN ITEMS ARCHIVE URL HOMEPAGE TO)
    if(NOT ${variable})
        message(FATAL_ERROR "-D${variable}= is missing")
    endif()
endforeach()
if(NOT EXISTS "${ARCHIVE}")
    message(FATAL_ERROR "There is no ${ARCHIVE}")
endif()

file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../CMakeLists.txt" line REGEX "^ +VERSION [0-9.]+$")
string(STRIP "${line}" line)
string(REPLACE "VERSION " "" VERSION "${line}")
file(SHA256 "${ARCHIVE}" SHA256)
file(SHA512 "${ARCHIVE}" SHA512)
foreach(registry IN ITEMS conan vcpkg)
    file(GLOB_RECURSE files RELATIVE "${CMAKE_CURRENT_LIST_DIR}/${registry}" "${CMAKE_CURRENT_LIST_DIR}/${registry}/*")
    foreach(file IN LISTS files)
        configure_file("${CMAKE_CURRENT_LIST_DIR}/${registry}/${file}" "${TO}/${file}" @ONLY)
    endforeach()
endforeach()
