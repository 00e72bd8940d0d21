#pragma once

// Every public header includes this one first, and is empty in a program that is compiled for an older C++. The program
// then gets this error, not hundreds about declarations that the older language does not know.
//
// GCC 10 has 201709 for C++20. MSVC keeps __cplusplus at 199711 unless told otherwise, so _MSVC_LANG counts there.
#if defined(_MSVC_LANG) ? _MSVC_LANG <= 201703L : __cplusplus <= 201703L
#define ROWLOCK_BEFORE_CXX20

// Clang goes on after an #error and would report each use of rowlock; it stops after a fatal one. MSVC stops at #error.
// GCC cannot be stopped: its errors about the program follow the #error.
#ifdef __clang__
#pragma clang diagnostic fatal "-W#warnings"
#warning "rowlock needs C++20: compile with -std=c++20 or later"
#endif
#error "rowlock needs C++20: compile with -std=c++20 or later"
#endif
