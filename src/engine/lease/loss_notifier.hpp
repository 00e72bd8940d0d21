#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "base/guarded.hpp"
#include "base/time.hpp"

namespace rowlock::inline v1::engine {

/// Counts the callbacks that have not returned, for a thread that waits for them.
class pending_callbacks {
 public:
  explicit pending_callbacks(std::size_t number) { *left_.lock() = number; }
  void one_has_returned() noexcept;
  /// Returns when all have, at the latest at `until`.
  void wait(base::instant until);

 private:
  std::condition_variable_any none_;
  base::guarded<std::size_t> left_;
};

/// Fires tokens, and with them the callbacks of users, on threads of its own, so that no callback holds up another
/// token.
///
///   waiting --a thread takes it--> firing --its callbacks have returned--> gone
///
/// While a token waits, there is a thread that is in no callback and will take it: a thread that is about to fire one
/// of several starts another first. Without callbacks that last, two threads fire any number; they end when nothing
/// waits. A thread shares what it works with, so that it can be left behind in a callback that never returns; it knows
/// nothing of locks and clients, which may be gone by then.
class loss_notifier {
 public:
  struct loss {
    std::stop_source token;
    std::function<void()> then{};                        ///< when it has fired, whether or not its callbacks return
    std::shared_ptr<pending_callbacks> waited_for_by{};  ///< nullptr: nobody waits for the callbacks
  };

  loss_notifier();
  loss_notifier(const loss_notifier&) = delete;
  loss_notifier& operator=(const loss_notifier&) = delete;
  ~loss_notifier();

  void fire(std::vector<loss> some);
  /// Calls `then` for what has fired and is in its callbacks yet; sees to what waits where no thread could be had.
  /// Answers when that is to be done again.
  base::instant look();
  /// Returns when all callbacks have returned, at the latest at `until`, but for those by which it is called. `then` is
  /// not called after that; tokens that wait are fired all the same.
  void close(base::instant until) noexcept;

 private:
  struct shared;
  static void work(const std::shared_ptr<shared>& with) noexcept;
  static bool ensure_thread(const std::shared_ptr<shared>& with);

  const std::shared_ptr<shared> shared_;
};

}  // namespace rowlock::inline v1::engine
