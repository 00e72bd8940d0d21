#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <concepts>
#include <initializer_list>
#include <ranges>
#include <span>
#include <vector>

#include <rowlock/lock_name.hpp>

// Clang warns where the argument ends before the object.
#ifdef __clang__
#define ROWLOCK_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define ROWLOCK_LIFETIMEBOUND
#endif

namespace rowlock::inline v1 {

/// Several names as the argument of a call: `{"a", "b"}`, or any range of lock_name or of text.
///
/// Lifetime: use it for one call only, because it refers to the names that it was made from.
///
/// Throws errc::invalid_name if a text is not a valid name.
class lock_names {
 public:
  /// Refers to names in braces.
  lock_names(std::initializer_list<lock_name> names ROWLOCK_LIFETIMEBOUND) noexcept
      : all_{names.begin(), names.size()} {}
  /// Refers to a range of lock_name, without a copy.
  template <class Names>
  requires std::convertible_to<const Names&, std::span<const lock_name>> lock_names(
      const Names& names ROWLOCK_LIFETIMEBOUND)
  noexcept : all_{std::span<const lock_name>{names}} {}  // NOLINT(google-explicit-constructor)
  /// Makes names of a range of text, or of other elements that convert to lock_name.
  template <std::ranges::input_range Names>
  requires(!std::convertible_to<const Names&, std::span<const lock_name>> &&
           std::convertible_to<std::ranges::range_reference_t<const Names>, lock_name>)
      lock_names(const Names& names)  // NOLINT(google-explicit-constructor)
      : own_{std::ranges::begin(names), std::ranges::end(names)}, all_{own_} {}
  lock_names(const lock_names&) = delete;
  lock_names& operator=(const lock_names&) = delete;
  ~lock_names() = default;

  /// Returns the names, which are valid while this object and its argument exist.
  std::span<const lock_name> all() const noexcept { return all_; }

 private:
  std::vector<lock_name> own_{};
  std::span<const lock_name> all_;
};

}  // namespace rowlock::inline v1

#undef ROWLOCK_LIFETIMEBOUND

#endif  // ROWLOCK_BEFORE_CXX20
