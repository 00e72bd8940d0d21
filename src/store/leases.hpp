#pragma once

#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_info.hpp>
#include <rowlock/loss_reason.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/recent_names.hpp"
#include "store/access.hpp"
#include "store/inspection.hpp"

/// Operations on all holds, whichever strategy has acquired them: renewing and releasing by acquisition. A batch
/// consists either of leases, and then contains a name at most once, or of shares. There is one answer for each
/// request, in their order.
///
/// A client that shares a name locks its row for a moment. A batch of shares of one name waits, briefly, for that row.
/// A batch about several names skips the rows that others have locked: their shares are inconclusive, or pinned, and
/// must be asked for name by name.
namespace rowlock::inline v1::store {

/// A held lease or share. Views are valid during the call.
struct lease_ref {
  std::string_view name;
  std::string_view acquisition;
  duration lease{};       ///< its length; for defer_release, how long after the grant it must end
  bool is_share = false;  ///< it shares the name: a row in a table of its own, beside the row of the name

  static constexpr auto texts() { return std::array{&lease_ref::name, &lease_ref::acquisition}; }
};

enum class standing : std::uint8_t { kept, lost, inconclusive };
struct renewal {
  standing what = standing::inconclusive;
  duration left{};
  loss_reason why = loss_reason::none;
};

/// Tokens that an acquisition may give to further holders: the greatest of them, and as many below it as were asked
/// for.
struct reservation {
  fencing_token last{};
  duration left{};           ///< of the lease, which was renewed
  bool others_wait = false;  ///< other clients, according to the statement
};

enum class release_outcome : std::uint8_t {
  released,
  released_unnotified,  ///< released, but the row says that a client waits, and none was notified
  pinned,               ///< still held: another transaction keeps the row locked
  gone,                 ///< it was not held any more
  vanished              ///< there was no answer: it is not held any more, and there is no row
};

/// Prolongs leases, and shortens none.
std::vector<renewal> renew(const access& db, std::span<const lease_ref> batch);
/// Makes the leases end after their length from now.
std::vector<renewal> extend(const access& db, std::span<const lease_ref> batch);
/// Renews a lease, and raises its version by `number` at least. nullopt: it is not held any more, or another
/// transaction has the row locked.
std::optional<reservation> reserve(const access& db, const lease_ref& one, std::int64_t number);
/// The waiters of released names.
class release_observer {
 public:
  release_observer() = default;
  release_observer(const release_observer&) = delete;
  release_observer& operator=(const release_observer&) = delete;
  virtual ~release_observer() = default;
  /// The client with this owner holds the lock now, if it claims it.
  virtual void granted_to(const access& db, std::string_view owner) noexcept = 0;
  base::recent_names waited_for{};  ///< names for which a waiter was seen
};
/// With an observer a lease is granted to the first waiter in turn, even if the database does not do that by itself. A
/// share is granted to no client.
std::vector<release_outcome> release(const access& db, std::span<const lease_ref> batch,
                                     release_observer* observer = nullptr);
/// Ends shares of any names, without those whose rows others have locked, or that do not exist: they count as pinned.
std::vector<release_outcome> end_shares_skipping(const access& db, std::span<const lease_ref> batch);
/// Releases leases at a later time. A lease that has expired is not changed, and counts as released.
std::vector<release_outcome> defer_release(const access& db, std::span<const lease_ref> batch);

constexpr bool is_released(release_outcome o) noexcept {
  return o == release_outcome::released || o == release_outcome::released_unnotified;
}

/// Whether the answer was that there is no row.
constexpr bool is_vanished(const renewal& r) noexcept {
  return r.what == standing::lost && r.why == loss_reason::row_vanished;
}
constexpr bool is_vanished(release_outcome o) noexcept { return o == release_outcome::vanished; }
inline std::vector<release_outcome> without_vanished(std::vector<release_outcome> outcomes) {
  std::replace(outcomes.begin(), outcomes.end(), release_outcome::vanished, release_outcome::gone);
  return outcomes;
}

/// The standing of an acquisition according to the row of its name; nullopt: there is no row.
renewal standing_of(const std::optional<row_state>& row, std::string_view acquisition);

/// A lease to convert, and its new identity.
struct conversion {
  lease_ref lease;
  std::string_view owner;
  std::string_view thread;
  std::string_view note;
  std::string_view attempt{};  ///< for a downgrade: any id that was never used
  std::int64_t permits = 1;    ///< of the share
};
struct converted {
  fencing_token token{};
  duration left{};
};
/// From a share to an exclusive lock. nullopt: others share it, or it is not held any more.
std::optional<converted> upgrade_share(const access& db, const conversion& what);
/// From an exclusive lock to a share. nullopt: it is not held any more.
std::optional<converted> downgrade(const access& db, const conversion& what);

/// Takes off the permits of holders of these names whose leases have ended, of a thousand holders at most. true: there
/// were some.
bool reap_shares(const access& db, std::span<const std::string_view> names);

/// A holder of a shared name; they are in the order of the tokens.
struct sharer {
  lock_info info;
  std::string acquisition;
};
std::vector<sharer> sharers(const access& db, std::string_view name);
/// When the next of their leases ends, or the row's lease, of which `left` is left.
std::optional<duration> left_of_shares(const access& db, std::string_view name, std::optional<duration> left);
/// nullopt: it does not share the name.
std::optional<sharer> find_share(const access& db, std::string_view name, std::string_view acquisition);
/// Whether that acquisition shares the name. If the name has no row at all, another connection is asked, too.
bool has_share(const access& db, std::string_view name, std::string_view acquisition);

}  // namespace rowlock::inline v1::store
