#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// The name of a lock: 1 to 255 bytes of UTF-8 without NUL, compared byte for byte ("A" and "a" are two names).
///
/// Converts from whatever converts to std::string_view. Throws error{errc::invalid_name} when constructed from
/// anything else, so that a bad name is refused before anything is sent.
class ROWLOCK_EXPORT lock_name {
 public:
  /// 1 to 255 bytes of UTF-8 without NUL, else error{errc::invalid_name}.
  template <class Text>
  requires(std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, std::nullptr_t>)
      lock_name(const Text& text)
      : lock_name{checked{}, std::string_view{text}} {}  // NOLINT(google-explicit-constructor)
  lock_name(std::nullptr_t) = delete;

  /// Valid as long as this object.
  std::string_view view() const noexcept { return text_; }

  /// By their bytes, as unsigned numbers: the order of client::list.
  friend auto operator<=>(const lock_name&, const lock_name&) = default;

 private:
  struct checked {};
  lock_name(checked, std::string_view text);
  std::string text_;
};

static_assert(!std::is_constructible_v<lock_name, std::nullptr_t>);
static_assert(std::is_convertible_v<const char*, lock_name> && std::is_convertible_v<std::string, lock_name>);

}  // namespace rowlock::inline v1

/// For unordered containers.
template <>
struct std::hash<rowlock::lock_name> {
  /// Of the bytes.
  std::size_t operator()(const rowlock::lock_name& name) const noexcept {
    return std::hash<std::string_view>{}(name.view());
  }
};
