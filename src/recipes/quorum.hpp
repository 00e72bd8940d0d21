#pragma once

#include <rowlock/error.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/loss_reason.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/guarded.hpp"
#include "base/time.hpp"

namespace rowlock::inline v1::recipes {

/// One attempt to acquire a name in a majority of databases, and its outcome.
///
///   asking --a majority is held--> held --fewer are--> lost
///      '-----no majority is left----------> refused
///   each of them --end()--> over
///
/// A loss is final, as that of each member is: a member that joins later does not take back a reported loss.
///
/// The validity has no allowance of its own for drift. If two clients believe in a majority, both hold the name in at
/// least one common database, and each member's local deadline is a margin ahead of that database: exclusion needs no
/// more. The clocks of the databases are never compared with each other.
class quorum : public std::enable_shared_from_this<quorum> {
 public:
  struct member {
    std::size_t database;
    held_lock lock;
    bool is_lost = false;
  };
  /// The locks that remain to be released, and the databases' answers so far.
  struct remains {
    std::vector<member> members{};
    bool was_lost = false;
    std::size_t failed = 0;    ///< by an error, or without an answer in time
    std::size_t hopeless = 0;  ///< by an error that a repetition would not repair
    std::optional<error> first_error{};
    std::optional<error> first_hopeless{};
  };

  explicit quorum(std::size_t databases);

  static std::size_t majority_of(std::size_t databases) noexcept { return databases / 2 + 1; }
  std::size_t majority() const noexcept { return majority_of(slots_.size()); }

  // For the threads that ask, each about its own database, once:
  bool is_wanted();
  /// Gives the lock back if it arrives too late.
  std::optional<held_lock> granted(std::size_t database, held_lock lock);
  void refused();
  void failed(const error& why);

  /// Whether the name is held; false at the latest at `until`, or when it is stopped.
  bool wait(base::instant until, const std::stop_token& stop);
  /// Called once; no member joins after that.
  remains end();

  /// None once it is lost. Under a mutex: `use` must not call this object.
  template <class Use>
  void for_each_held(Use use) {
    const auto d = data_.lock();
    if (d->now == status::held)
      for (const auto& each : d->members)
        if (!each.is_lost) use(each);
  }
  loss_reason why_lost();
  std::stop_token lost();

 private:
  enum class status : unsigned char { asking, held, lost, refused, over };
  struct data {
    status now = status::asking;
    std::vector<member> members{};
    std::size_t unanswered = 0;
    loss_reason why = loss_reason::none;
    bool has_fired = false;
    remains answers{};
  };
  /// Called by a member's lost(). It keeps no object alive: the user's callback may destroy this quorum.
  struct notice {
    std::weak_ptr<quorum> of;
    std::size_t database;
    void operator()() const {
      if (const auto that = of.lock()) that->member_is_lost(database);
    }
  };
  struct slot {
    std::atomic<bool> is_armed{false};
    std::optional<std::stop_callback<notice>> on_loss{};
  };

  void look(data& d) const;
  void answered(data& d);
  void member_is_lost(std::size_t database);
  void fire_if_lost();

  base::guarded<data> data_;
  std::condition_variable_any changed_;
  std::stop_source lost_;
  std::vector<slot> slots_;
};

/// A thread for each of several databases, which does its errands in their order: an errand that hangs delays those of
/// its own database only.
class database_threads {
 public:
  using errand = std::function<void()>;

  explicit database_threads(std::size_t number);
  database_threads(const database_threads&) = delete;
  database_threads& operator=(const database_threads&) = delete;
  /// Returns when all errands are done.
  ~database_threads() = default;

  /// An errand must not throw.
  void post(std::size_t database, errand what);

  /// Releases each on the thread of its database, after the earlier errands. Returns when `enough` of them are
  /// released, or each was tried: the first failure if too few are.
  std::optional<error> release(std::vector<quorum::member> some, std::size_t enough);
  /// The same without waiting.
  void release_soon(std::vector<quorum::member> some) noexcept;

 private:
  struct worker {
    base::guarded<std::deque<errand>> errands;
    std::condition_variable_any has_errand;
    std::jthread thread;
    void run(const std::stop_token& stop);
  };
  std::deque<worker> all_;
};

}  // namespace rowlock::inline v1::recipes
