#pragma once

#include <rowlock/client.hpp>

#include <condition_variable>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/guarded.hpp"
#include "command/overview.hpp"
#include "command/signals.hpp"
#include "command/top_rows.hpp"

namespace rowlock::command {

/// What has happened, from the threads that learn of it to the one that shows it.
class top_mailbox {
 public:
  struct seen {
    overview what{};
    top_history::clock::time_point when{};
  };
  struct failed {
    std::string sentence{};
  };
  struct told {
    std::string sentence{};
  };
  using news = std::variant<seen, failed, told>;

  void put(news what);
  /// All since the last call.
  std::vector<news> take();
  /// Rings when there is something.
  const bell& arrival() const noexcept { return bell_; }

 private:
  bell bell_{};
  base::guarded<std::vector<news>> all_{};
};

/// Looks at the database again and again, on a thread of its own, so that keys are answered while the database is not.
class top_looker {
 public:
  top_looker(client& locks, std::string prefix, duration every, top_mailbox& to);

  /// At once.
  void look();
  /// Frees the lock if it is held as it was shown; the mailbox is told what came of it.
  void free(lock_info shown);

 private:
  struct orders {
    std::vector<lock_info> to_free{};
    bool wants_look = false;
  };

  void work(const std::stop_token& stop);
  orders wait_for_orders(const std::stop_token& stop);
  void look_once();
  void free_it(const lock_info& shown);

  client& locks_;
  std::string prefix_;
  duration every_;
  top_mailbox& to_;
  base::guarded<orders> orders_{};
  std::condition_variable_any changed_{};
  std::jthread thread_;  // the last: it uses all of the above
};

}  // namespace rowlock::command
