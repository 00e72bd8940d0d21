#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <compare>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// The identity of a lock's holder inside one client.
///
/// Reentrancy depends on this identity alone. If a holder asks for a lock that it holds, it is granted the lock again
/// at once, without a call to the database; every other holder waits. (Redisson's RLock does the same with the thread's
/// id.)
class ROWLOCK_EXPORT holder {
 public:
  /// Returns the identity of the calling thread, like that of std::recursive_mutex; the default of `mutex`.
  ///
  /// The identity of a thread is never used again after its end.
  static holder this_thread();
  /// Returns an identity that equals no other; the default of client::acquire and client::try_acquire.
  static holder unique();
  /// Makes an identity of your own for a coroutine, a job or a request.
  ///
  /// Throws error{errc::invalid_option} if `task_id` is not 1 to 200 bytes of UTF-8 without NUL.
  static holder named(std::string_view task_id);

  /// Returns the text of the `thread` column in the database.
  std::string_view text() const noexcept { return id_ ? std::string_view{*id_} : std::string_view{}; }

  /// Whether both are the same identity.
  friend bool operator==(const holder& a, const holder& b) noexcept { return a.text() == b.text(); }
  /// Compares by an arbitrary order, for maps.
  friend auto operator<=>(const holder& a, const holder& b) noexcept { return a.text() <=> b.text(); }

 private:
  explicit holder(std::string id) : id_{std::make_shared<const std::string>(std::move(id))} {}
  std::shared_ptr<const std::string> id_;  // shared, so that copying a holder in every lock() needs no allocation
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
