#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

/// Marks a declaration that the library exports; everything else is hidden.
///
/// It is an attribute in brackets, because g++ refuses [[nodiscard]] before __attribute__. Inside src/ it marks what
/// the libraries of the backends use of the core library.
#define ROWLOCK_EXPORT [[gnu::visibility("default")]]

#endif  // ROWLOCK_BEFORE_CXX20
