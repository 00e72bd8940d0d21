#pragma once

#include <rowlock/sweeper.hpp>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "base/guarded.hpp"
#include "base/time.hpp"
#include "engine/client_core.hpp"

namespace rowlock::inline v1::recipes {

/// A sweeper: a thread, the lock that only one of all sweepers has, and the order in which it goes through the tables.
///
///   standing by --gets the lock--> sweeping: every interval --the lock is lost--> standing by
class sweeper_loop {
 public:
  sweeper_loop(std::shared_ptr<engine::client_core> of, const sweeper_options& options);
  sweeper_loop(const sweeper_loop&) = delete;
  sweeper_loop& operator=(const sweeper_loop&) = delete;
  ~sweeper_loop() { stop(); }

  void start();
  /// Throws what the database says; ended by stop(), it does not.
  std::size_t sweep_once();
  sweeper_statistics statistics() { return *done_.lock(); }
  void stop() noexcept;
  bool is_foreign() const noexcept { return client_->is_foreign(); }

 private:
  void run();
  bool leads();
  void purge_tickets();
  void purge_shares();
  void notify_waiters();
  void sweep_names();
  void count_swept(std::size_t rows, std::size_t tickets);
  template <class Use>
  auto call(duration& shortest, Use use);
  void end_step();
  bool is_stopped() const noexcept { return stop_.stop_requested(); }
  bool goes_on() const noexcept;
  void rest(duration d);

  const std::shared_ptr<engine::client_core> client_;
  const sweeper_options options_;
  std::stop_source stop_;
  std::mutex sweeping_;  // one sweep at a time, and what follows
  engine::lease_ptr lead_;
  std::size_t rows_ = 0;  // that the next step looks at
  duration cost_{};       // of this step so far
  duration shortest_look_ = duration::max();
  duration shortest_deletion_ = duration::max();
  std::string swept_to_;  // empty: to the end
  base::guarded<sweeper_statistics> done_;
  std::mutex resting_;
  std::condition_variable_any stopped_;
  base::guarded<std::jthread> thread_;
};

}  // namespace rowlock::inline v1::recipes
