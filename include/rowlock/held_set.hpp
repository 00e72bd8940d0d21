#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/loss_reason.hpp>

namespace rowlock::inline v1 {

/// Owning handle to several held locks, which are worth something only together.
///
/// It is what client::acquire_all() and multi_lock answer. It is lost as soon as one of its locks is lost, and it
/// releases all of them at the end of its scope, in the reverse order. (Redisson: RedissonMultiLock; the standard's
/// scoped_lock.)
///
/// Threads: any thread may use it, one at a time.
///
/// Lifetime, destruction: as of held_lock.
class [[nodiscard]] ROWLOCK_EXPORT held_set {
 public:
  held_set() noexcept;  ///< Makes an empty handle.
  /// Takes over these locks, of any clients. Without any, it is empty.
  explicit held_set(std::vector<held_lock> locks);
  held_set(held_set&& other) noexcept;  ///< Takes over the locks of `other`, which is then empty.
  /// Releases the locks held so far, as the destructor does, and takes over those of `other`.
  held_set& operator=(held_set&& other) noexcept;
  ~held_set();

  /// Whether this object has locks, lost or not.
  explicit operator bool() const noexcept;

  /// Its locks, in the order in which it was given them; those of acquire_all() are sorted by the bytes of their names.
  std::span<const held_lock> locks() const noexcept;
  std::size_t size() const noexcept { return locks().size(); }  ///< How many it has.
  /// Returns the fencing token of the lock with this name; throws error{errc::not_held} if it is not among them.
  ///
  /// Each lock has its own. What one of them protects knows that one.
  fencing_token token(const lock_name& name) const;
  /// Returns the time left until the first of their leases ends; nullopt if none has a lease. Zero if one is lost.
  ///
  /// Throws errc::not_held if the handle is empty.
  std::optional<duration> expires_in() const;

  /// Returns a token that is stopped when any of the locks is lost; see held_lock::lost(), also for callbacks.
  ///
  /// The others are held on, until this handle releases them. If it is empty, the token is stopped already.
  std::stop_token lost() const noexcept;
  /// Returns why the first of them that is lost was lost; loss_reason::none if none is, or the handle is empty.
  loss_reason why_lost() const noexcept;

  /// Makes each lease end `lease` from now; see held_lock::extend().
  ///
  /// Throws what it throws for one of them. Those before that have the new length then, and those after it the old one.
  void extend(duration lease);

  /// Releases all of them, and leaves the handle empty.
  ///
  /// Throws errc::not_held if it is empty. Each is released, whatever becomes of the others; then the first failure is
  /// thrown that held_lock::release() has thrown (errc::lock_lost, or what the database reports).
  void release();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
