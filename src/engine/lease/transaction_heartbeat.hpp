#pragma once

#include <atomic>
#include <list>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/alarm.hpp"
#include "base/guarded.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/lease/lease_state.hpp"

namespace rowlock::inline v1::engine {

/// Keeps the transactions that hold locks alive: sends something on each before the server takes its holder for dead,
/// and notices when one has ended. Its thread starts with the first transaction. Each heartbeat is sent by a thread of
/// its own, so that a hanging connection delays no other; short holds need none.
class transaction_heartbeat {
 public:
  transaction_heartbeat(gateway& db, lease_listener& to) : db_{db}, listener_{to} {}
  transaction_heartbeat(const transaction_heartbeat&) = delete;
  transaction_heartbeat& operator=(const transaction_heartbeat&) = delete;
  ~transaction_heartbeat() { stop(); }

  /// Before the first attend(). Throws if no thread can be started.
  void start();
  void attend(const lease_ptr& a);
  /// Releases a lock on which no holder relies any more, and attends it no more. Throws if its transaction has ended
  /// before, or the commit fails: the end of the connection releases the lock as well.
  void commit(lease_state& a, const driver::limits& until);
  /// Some locks were lost: their transactions must end.
  void look() noexcept { alarm_.arm(base::instant::min()); }
  void stop() noexcept;

 private:
  struct contents {
    std::vector<lease_ptr> attended;
    std::jthread thread;
    bool is_stopped = false;
  };
  struct beating {
    std::atomic<bool> is_over{false};
    std::jthread thread;
  };

  void forget(const lease_state& a) noexcept;
  void send_commit(lease_state& a, const driver::limits& until);
  void run(const std::stop_token& stop);
  std::vector<lease_ptr> attended();
  base::instant look_after(const lease_ptr& a);
  base::instant end_in_time(const lease_ptr& a);
  void begin_to_beat(const lease_ptr& a);
  void beat(const lease_ptr& a, const std::stop_token& stop) noexcept;

  gateway& db_;
  lease_listener& listener_;
  base::alarm alarm_;
  base::guarded<contents> state_;
  std::list<beating> beats_;  // used by its own thread only, like the next
  base::instant again_at_{};
};

}  // namespace rowlock::inline v1::engine
