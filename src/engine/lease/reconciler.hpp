#pragma once

#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/gateway/gateway.hpp"
#include "engine/lease/lease_state.hpp"
#include "engine/lease/unresolved.hpp"
#include "engine/maintenance.hpp"
#include "engine/queue/release_notices.hpp"
#include "store/leases.hpp"

namespace rowlock::inline v1::engine {

/// Releases acquisitions whose release failed or whose outcome is unknown (law 6: they are undone, not believed in).
class reconciler final : public maintenance::task {
 public:
  reconciler(gateway& db, release_notices& notices, maintenance& on) : db_{db}, notices_{notices}, maintenance_{on} {}

  /// A lock that was held here and must not be held any more.
  unresolved entry_for(const lease_state& a) const;
  /// One whose lease, of that length, may have begun; it is left alone until `from`.
  unresolved entry_for(const lock_name& name, const core::acquisition_id& id, duration lease, base::instant from) const;
  void add(unresolved e);
  /// The same for an attempt, or a release, that a thread has left in a batch: when that has ended, by what is known
  /// then. nullptr: it was in none.
  void add_when_ended(const combined_call_ptr& left, unresolved e);
  /// Whether a release that failed so may have granted the name to somebody.
  bool may_have_granted(const std::exception& why) const noexcept;
  std::optional<core::session_number> permits(std::string_view acquisition, base::instant now) {
    return list_.permits(acquisition, now);
  }

  base::instant next_due() override { return list_.next_due(); }
  void run(const driver::limits& until) noexcept override;
  /// Releases these now, and keeps for later what could not be released.
  void release_all(std::vector<unresolved> entries, const driver::limits& until);
  /// Whatever may be released at all: the client closes.
  std::vector<unresolved> take_permitted(base::instant now) { return list_.take_permitted(now); }

 private:
  using verb = std::vector<store::release_outcome> (*)(const store::access&, std::span<const store::lease_ref>);
  void let_grants_end(std::vector<unresolved> some, const driver::limits& until);
  void release_by(verb how, std::vector<unresolved> entries, const driver::limits& until);
  void settle(unresolved e, store::release_outcome outcome);
  void has_ended(unresolved e, combined_call::fate now) noexcept;
  std::vector<unresolved> release_each_name(std::vector<unresolved> entries, const driver::limits& until);

  gateway& db_;
  release_notices& notices_;
  maintenance& maintenance_;
  unresolved_list list_;
};

/// A renewal that was under way when a lock was released may have prolonged it. It is over when the maintenance thread
/// comes to this entry, or its session is ended first.
unresolved once_more(unresolved e);

}  // namespace rowlock::inline v1::engine
