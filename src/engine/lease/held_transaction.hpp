#pragma once

#include <memory>
#include <stop_token>

#include "base/fork_guard.hpp"
#include "engine/gateway/pool.hpp"

namespace rowlock::inline v1::engine {

/// The session whose open transaction holds a lock. Used by the thread that has claimed the lock.
///
///   open --end()--> over: its connection was closed, and so the server releases the row
///        --give_back()--> over: the transaction was ended before
class held_transaction {
 public:
  explicit held_transaction(std::unique_ptr<pool::loan> on)
      : loan_{std::move(on)}, descriptor_{session().descriptor()} {}
  held_transaction(const held_transaction&) = delete;
  held_transaction& operator=(const held_transaction&) = delete;
  ~held_transaction();

  bool is_over() const noexcept { return loan_ == nullptr; }
  driver::session& session() const noexcept { return **loan_; }
  void end() noexcept;
  /// Ended when nobody relied on the lock any more, by cutting a heartbeat: that is as good as a release.
  bool was_cut_short() const noexcept { return was_cut_short_; }
  void give_back() noexcept { loan_.reset(); }

  /// By any thread: nobody relies on the lock any more, so a heartbeat that is under way is cut.
  void hurry() noexcept { hurried_.request_stop(); }
  std::stop_token hurried() const noexcept { return hurried_.get_token(); }

  /// For poll(2); by any thread. It means something only as long as the transaction is open.
  int descriptor() const noexcept { return descriptor_; }

 private:
  const base::fork_guard process_;
  std::unique_ptr<pool::loan> loan_;
  const int descriptor_;
  std::stop_source hurried_;
  bool was_cut_short_ = false;
};

}  // namespace rowlock::inline v1::engine
