#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <concepts>
#include <iosfwd>
#include <string_view>
#include <type_traits>

namespace rowlock::inline v1 {

namespace detail {

/// An enumeration of rowlock, which has its own to_string().
template <class Enum>
concept named_enum = std::is_enum_v<Enum> && requires(Enum e) {
  { to_string(e) } -> std::same_as<std::string_view>;
};

}  // namespace detail

/// Writes the name of the enumerator to a stream, as a std::string_view is written.
template <class Traits, detail::named_enum Enum>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& to, Enum e) {
  const std::string_view name = to_string(e);
  return to << std::basic_string_view<char, Traits>{name.data(), name.size()};
}

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
