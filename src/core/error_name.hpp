#pragma once

#include <rowlock/error.hpp>
#include <rowlock/export.hpp>

#include <string_view>

namespace rowlock::inline v1::core {

/// The name of the enumerator, for programs.
ROWLOCK_EXPORT std::string_view name_of(errc code) noexcept;

}  // namespace rowlock::inline v1::core
