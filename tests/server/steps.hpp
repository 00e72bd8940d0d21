#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/boot_clock.hpp"
#include "driver/backend.hpp"
#include "store/leases.hpp"
#include "store/tickets.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::test {

/// An attempt of some client's; the texts must outlive it.
inline strategies::acquire_args attempt_at(std::string_view name, std::string_view acquisition, duration lease) {
  return {.name = name, .owner = "app:1:1:1", .thread = "1", .acquisition = acquisition, .note = {}, .lease = lease};
}

/// A session of its own and the strategy's steps on it, in batches, with no client around them.
class steps {
 public:
  explicit steps(const std::string& url, const driver::open_options& with = {});

  std::vector<strategies::answer> acquire(std::span<const strategies::acquire_args> batch);
  std::vector<store::renewal> renew(std::span<const store::lease_ref> batch);
  std::vector<store::release_outcome> release(std::span<const store::lease_ref> batch);
  std::vector<store::release_outcome> defer_release(std::span<const store::lease_ref> batch);
  std::vector<store::queue_position> look_at_queues(std::span<const store::ticket_ref> some);

  driver::session& session() { return *session_; }
  const sheets::sheet& sql() const noexcept { return sql_; }
  static driver::limits limits();
  store::access on(const driver::limits& until) { return {.sheet = sql_, .session = *session_, .until = until}; }

 private:
  std::unique_ptr<driver::database> database_;
  std::unique_ptr<driver::session> session_;
  sheets::sheet sql_;
  const strategies::algorithm strategy_{strategies::unique_index};
};

}  // namespace rowlock::test
