#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "engine/gateway/gateway.hpp"
#include "engine/identity.hpp"
#include "engine/maintenance.hpp"
#include "engine/queue/late_tickets.hpp"
#include "engine/queue/local_wait_queue.hpp"
#include "engine/queue/release_notices.hpp"
#include "engine/retry_list.hpp"

namespace rowlock::inline v1::engine {

/// How long a run of ticket tasks takes at most: renewals wait for it.
inline constexpr duration longest_ticket_run = std::chrono::seconds{1};

/// Deletes the tickets of waiters that have left, in the background, and tells the next waiter of releases by this
/// client.
class ticket_cleanup final : public maintenance::task, public release_notices {
 public:
  ticket_cleanup(gateway& db, identity& who, local_wait_queue& queue, maintenance& on)
      : db_{db}, who_{who}, queue_{queue}, maintenance_{on} {}

  enum class departure : std::uint8_t {
    by_another_grant,
    spent,     ///< its waiter has the lock by a release that granted it to this ticket; its own release deletes it, too
    unwanted,  ///< without the lock, which a release may grant it all the same: that is released
  };
  /// Number none: not known, and perhaps there is no ticket yet.
  void leave_later(const lock_name& name, const core::acquisition_id& attempt, core::ticket_number number,
                   departure how = departure::by_another_grant);
  /// Before a fair attempt: returns when no ticket of an earlier wait by this client is in its way, after a short time
  /// at the latest.
  void clear(const lock_name& name, duration wait, const std::stop_token& stop);
  /// All that are to go: the client closes.
  void leave_all(const driver::limits& until);

  void released(const lock_name& name, bool is_untold) override;
  void pass_on(const lock_name& name) override;

  base::instant next_due() override { return leaving_.next_due(); }
  void run(const driver::limits& until) noexcept override;

 private:
  struct departing {
    lock_name name;
    core::acquisition_id attempt;
    core::ticket_number number = core::ticket_number::none;
    base::instant until{};
    base::instant next{};
    int attempts = 0;
    departure how = departure::by_another_grant;
  };
  void leave(std::vector<departing> tickets, const driver::limits& until);
  void tell(std::vector<departing> names, const driver::limits& until);
  void tell_or_clear(const lock_name& name, const store::access& db);
  void release_grants(const std::vector<departing>& left, const driver::limits& until) noexcept;
  void withdraw(const std::vector<departing>& some, const driver::limits& until) noexcept;
  std::vector<bool> leave_at_once(const std::vector<departing>& some, const driver::limits& until);

  gateway& db_;
  identity& who_;
  local_wait_queue& queue_;
  maintenance& maintenance_;
  retry_list<departing> leaving_;
  late_tickets late_;
};

}  // namespace rowlock::inline v1::engine
