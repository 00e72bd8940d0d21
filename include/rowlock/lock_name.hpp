#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>

#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// The name of a lock: 1 to 255 bytes of UTF-8 without NUL.
///
/// Names are compared byte for byte: "A" and "a" are two names. Every type that converts to std::string_view converts
/// implicitly to lock_name, so that calls take string literals. An invalid name is refused here, before anything is
/// sent to the database.
class ROWLOCK_EXPORT lock_name {
 public:
  /// Makes a name from a text; throws error{errc::invalid_name} if it is not 1 to 255 bytes of UTF-8 without NUL.
  template <class Text>
  requires(std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, std::nullptr_t>)
      lock_name(const Text& text)
      : lock_name{checked{}, std::string_view{text}} {}  // NOLINT(google-explicit-constructor)
  lock_name(std::nullptr_t) = delete;

  /// Returns the text of the name, which is valid while this object exists.
  std::string_view view() const noexcept { return text_; }

  /// Compares the bytes as unsigned numbers, which is the order of client::list.
  friend auto operator<=>(const lock_name&, const lock_name&) = default;

  /// Writes the name to a stream like a std::string_view: width, fill and alignment apply.
  ///
  /// \warning The bytes are written unchanged. A name of unknown origin may contain control characters that a terminal
  /// obeys.
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& to, const lock_name& name) {
    return to << std::basic_string_view<char, Traits>{name.text_.data(), name.text_.size()};
  }

 private:
  struct checked {};
  lock_name(checked, std::string_view text);
  std::string text_;
};

static_assert(!std::is_constructible_v<lock_name, std::nullptr_t>);
static_assert(std::is_convertible_v<const char*, lock_name> && std::is_convertible_v<std::string, lock_name>);

}  // namespace rowlock::inline v1

/// Hashes a lock_name, for unordered containers.
template <>
struct std::hash<rowlock::lock_name> {
  /// Hashes the bytes of the name.
  std::size_t operator()(const rowlock::lock_name& name) const noexcept {
    return std::hash<std::string_view>{}(name.view());
  }
};

#endif  // ROWLOCK_BEFORE_CXX20
