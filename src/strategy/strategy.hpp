#pragma once

#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_info.hpp>
#include <rowlock/loss_reason.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/dialect.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::strategies {

/// One attempt to get a name. Views live as long as the call.
struct attempt {
  std::string_view name;
  std::string_view owner;
  std::string_view thread;
  std::string_view acquisition;
  std::string_view note;
  duration lease{};
  std::string_view liveness{};  ///< of the client, where the lock has no lease
  fencing_token seen{};         ///< the version that a compare-and-set goes by
  /// Who is asked for it by the database itself, where it can. Ticket 0: none.
  struct in_turn {
    std::int64_t ticket = 0;
    std::int64_t turn = 0;
  };
  std::optional<in_turn> queued{};
};

enum class verdict : std::uint8_t {
  granted,
  busy,
  behind,  ///< it looks free, and others have come before
  inconclusive
};
struct answer {
  verdict what = verdict::inconclusive;
  fencing_token token{};
  std::optional<duration> left{};  ///< of the lease, ours or the holder's; absent: held without one
  // Of whoever waits in turn:
  bool is_behind = false;
  bool has_place = true;  ///< its ticket is still there
  bool has_left = false;  ///< granted, and the ticket is gone already
};

/// A lease that is held.
struct held {
  std::string_view name;
  std::string_view acquisition;
  duration lease{};  ///< its length; of one that lingers, for how long since it was granted
};

enum class standing : std::uint8_t { kept, lost, inconclusive };
struct renewal {
  standing what = standing::inconclusive;
  duration left{};
  loss_reason why = loss_reason::none;
};

enum class letting_go : std::uint8_t {
  released,
  pinned,  ///< still ours: somebody's transaction keeps the row locked
  gone     ///< it was not ours any more
};

/// How a name is owned: verbs over batches on a session, with one answer a request in the order of the requests.
/// A batch holds a name at most once.
class algorithm {
 public:
  algorithm() = default;
  algorithm(const algorithm&) = delete;
  algorithm& operator=(const algorithm&) = delete;
  virtual ~algorithm() = default;

  virtual std::vector<answer> acquire(driver::session& on, std::span<const attempt> batch,
                                      const driver::limits& until) const = 0;
  virtual std::vector<renewal> renew(driver::session& on, std::span<const held> batch,
                                     const driver::limits& until) const = 0;
  virtual std::vector<renewal> extend(driver::session& on, std::span<const held> batch,
                                      const driver::limits& until) const = 0;
  virtual std::vector<letting_go> release(driver::session& on, std::span<const held> batch,
                                          const driver::limits& until) const = 0;
  /// Lets go of what is to stay taken for a while. What has expired is not taken any more, and counts as released.
  virtual std::vector<letting_go> linger(driver::session& on, std::span<const held> batch,
                                         const driver::limits& until) const = 0;
};

}  // namespace rowlock::inline v1::strategies
