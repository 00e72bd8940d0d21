#pragma once

#include <rowlock/held_lock.hpp>
#include <rowlock/sweeper.hpp>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/time.hpp"
#include "runtime/client_impl.hpp"
#include "runtime/guarded.hpp"

namespace rowlock::inline v1::runtime {

/// A sweeper: a thread, the lock that only one of all sweepers has, and the way through the tables.
///
///   standing by --has the lock--> sweeping: every interval --the lock is lost--> standing by
class sweeping {
 public:
  sweeping(std::shared_ptr<detail::client_impl> of, const sweeper_options& options);
  sweeping(const sweeping&) = delete;
  sweeping& operator=(const sweeping&) = delete;
  ~sweeping() { stop(); }

  void start();
  /// Throws what the database says; ended by stop(), it does not.
  std::size_t sweep_once();
  sweeper_statistics statistics() { return *done_.lock(); }
  void stop() noexcept;
  bool is_foreign() const noexcept { return client_->is_foreign(); }

 private:
  void run();
  bool leads();
  void bury_tickets();
  void announce();
  void sweep_names();
  template <class Use>
  auto call(duration& shortest, Use use);
  void end_step();
  bool is_stopped() const noexcept { return stop_.stop_requested(); }
  bool goes_on() const noexcept;
  void rest(duration d);

  const std::shared_ptr<detail::client_impl> client_;
  const sweeper_options options_;
  std::stop_source stop_;
  std::mutex sweeping_;  // one sweep at a time, and what follows
  std::optional<held_lock> lead_;
  std::size_t rows_ = 0;  // that the next step looks at
  duration cost_{};       // of this step so far
  duration shortest_look_ = duration::max();
  duration shortest_deletion_ = duration::max();
  std::string swept_to_;  // empty: to the end
  guarded<sweeper_statistics> done_;
  std::mutex resting_;
  std::condition_variable_any stopped_;
  guarded<std::jthread> thread_;
};

}  // namespace rowlock::inline v1::runtime
