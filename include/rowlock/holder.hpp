#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>

#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// Who holds a lock inside one client. Reentrancy follows this and nothing else: a holder that has a name already is
/// granted it again at once, without a word to the database; any other holder waits.
class ROWLOCK_EXPORT holder {
 public:
  /// The calling thread, as std::recursive_mutex has it: the default of `mutex`. Identities of threads that have ended
  /// are not used again.
  static holder this_thread();
  /// Equal to no other: the default of client::acquire and client::try_acquire.
  static holder unique();
  /// A coroutine, a job, a request: the identity is yours. 1 to 200 bytes of UTF-8 without NUL, else
  /// error{errc::invalid_option}.
  static holder named(std::string_view task_id);

  /// What the `thread` column shows to people.
  std::string_view text() const noexcept { return id_; }

  friend bool operator==(const holder&, const holder&) = default;   ///< The same identity.
  friend auto operator<=>(const holder&, const holder&) = default;  ///< Any order, for maps.

 private:
  explicit holder(std::string id) : id_{std::move(id)} {}
  std::string id_;
};

}  // namespace rowlock::inline v1
