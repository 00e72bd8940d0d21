#pragma once

#include <rowlock/lock_name.hpp>

#include <condition_variable>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/time.hpp"
#include "runtime/guarded.hpp"

namespace rowlock::inline v1::runtime {

/// Tickets of this client's own whose waiters have left, from then until the database has them no more, or they have
/// expired there: whoever tries next in turn stands behind them for no reason.
class late_tickets {
 public:
  void add(const lock_name& name, std::string attempt, core::instant until);
  void remove(std::string_view attempt) noexcept;
  bool has(const lock_name& name, core::instant now);
  /// Until there is none of this name, the deadline or `stop`.
  void wait(const lock_name& name, core::instant deadline, const std::stop_token& stop);

 private:
  struct ticket {
    lock_name name;
    std::string attempt;
    core::instant until;
  };
  static bool has(const std::vector<ticket>& all, const lock_name& name);

  guarded<std::vector<ticket>> all_;
  std::condition_variable_any removed_;
};

}  // namespace rowlock::inline v1::runtime
