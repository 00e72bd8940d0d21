#pragma once

#include <rowlock/fencing_token.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/identity.hpp"
#include "core/sharing.hpp"
#include "store/access.hpp"

namespace rowlock::inline v1::strategies {

/// What one attempt to acquire a name says to the database. Views are valid for the time of the call.
struct acquire_args {
  std::string_view name;
  std::string_view owner;
  std::string_view thread;
  std::string_view acquisition;
  std::string_view note;
  duration lease{};
  std::string_view liveness{};  ///< of the client, if the lock has no lease
  fencing_token seen{};         ///< the version that a compare-and-set goes by; of one in turn, where it was seen free
  /// For a database that checks the queue in the same statement: the own ticket, and up to which one others come first.
  struct queue_position {
    core::ticket_number ticket = core::ticket_number::none;
    core::ticket_number turn = core::ticket_number::last;
    duration patience{};  ///< zero: all of those others; else only sets that insist
  };
  std::optional<queue_position> queued{};
  core::sharing share{};  ///< for strategies::share

  static constexpr auto texts() {
    return std::array{&acquire_args::name,        &acquire_args::owner, &acquire_args::thread,
                      &acquire_args::acquisition, &acquire_args::note,  &acquire_args::liveness};
  }
};

enum class verdict : std::uint8_t {
  granted,
  busy,
  behind,  ///< it looks free, but others have come before
  inconclusive
};
struct answer {
  verdict what = verdict::inconclusive;
  fencing_token token{};
  std::optional<duration> left{};  ///< of the lease, ours or the holder's; absent: held without one
  // About the queue:
  bool is_behind = false;
  bool has_ticket = true;  ///< the own ticket is still there
  bool has_left = false;   ///< granted, and the own ticket is deleted already
  // Of who has it, where the statement tells:
  bool is_shared = false;
  std::optional<bool> is_marked{};  ///< the row says that somebody waits
  std::string holding{};            ///< the acquisition
  fencing_token held_as{};

  /// It is free, but who does not know the queue does not get it.
  bool is_waited_for() const noexcept { return what == verdict::busy && left && *left <= duration::zero(); }
};

/// How a name is won. Renewing and releasing are alike for all leases: store/leases.hpp.
class algorithm {
 public:
  algorithm() = default;
  algorithm(const algorithm&) = delete;
  algorithm& operator=(const algorithm&) = delete;
  virtual ~algorithm() = default;

  /// One answer for each request, in their order. A batch holds a name at most once.
  virtual std::vector<answer> acquire(const store::access& db, std::span<const acquire_args> batch) const = 0;
};

}  // namespace rowlock::inline v1::strategies
