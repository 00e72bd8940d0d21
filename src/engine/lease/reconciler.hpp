#pragma once

#include <rowlock/lock_name.hpp>

#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "core/identity.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/lease/lease_state.hpp"
#include "engine/maintenance.hpp"
#include "engine/queue/release_notices.hpp"
#include "store/leases.hpp"

namespace rowlock::inline v1::engine {

/// An acquisition that may still be in the database although no holder relies on it: its release failed, or the outcome
/// of the attempt is unknown. It is released repeatedly until that is answered, or until its lease and every call that
/// might have brought it there have run out.
struct unresolved {
  lock_name name;
  core::acquisition_id acquisition;
  base::instant until{};
  base::instant from{};  ///< not before that time, until which its holder has time to stop
  base::instant next{};
  int attempts = 0;
  bool may_appear = false;  ///< it was not seen in the database yet: its statement may still be under way
  duration at_least{};      ///< for so long after its grant it must stay in the database,
  base::instant stays_until = base::instant::min();  ///< which is certainly over then
  core::session_number confirmed_by = core::session_number::unknown;
  bool is_share = false;
  bool may_have_granted = false;  ///< by a release that was not answered
  bool notifies_if_gone = false;  ///< no waiter is notified if it ends otherwise
  bool may_be_prolonged = false;  ///< by an earlier request: it must be released once more
};

class unresolved_list : public retry_list<unresolved> {
 public:
  /// Takes out the entries that may be released, due or not: the last chance.
  std::vector<unresolved> take_permitted(base::instant now) {
    return take_if([now](const unresolved& e) { return is_permitted(e, now); });
  }
  /// Whether there are such entries that were seen in the database.
  bool has_permitted(base::instant now) {
    return has([now](const unresolved& e) { return is_permitted(e, now) && !e.may_appear; });
  }
  /// Whether this one may be released now; and if so, which session of the server has confirmed it.
  std::optional<core::session_number> permits(std::string_view acquisition, base::instant now) {
    return find(
        [&](const unresolved& e) {
          return e.acquisition.text() == acquisition && e.stays_until <= now && is_permitted(e, now);
        },
        [](const unresolved& e) { return e.confirmed_by; });
  }

 private:
  static bool is_permitted(const unresolved& e, base::instant now) { return e.from <= now && !e.may_have_granted; }
};

/// Takes out the entries that must remain in the database for now.
std::vector<unresolved> take_staying(std::vector<unresolved>& from, base::instant now);

/// Takes out all but the first of each name, so that a batch contains a name at most once.
std::vector<unresolved> take_repeated_names(std::vector<unresolved>& from);

/// Releases acquisitions whose release failed or whose outcome is unknown (law 6: they are undone).
class reconciler final : public maintenance::task {
 public:
  reconciler(gateway& db, release_notices& notices, maintenance& on) : db_{db}, notices_{notices}, maintenance_{on} {}

  /// For a lock that was held here and must not be held any more.
  unresolved entry_for(const lease_state& a) const;
  /// For an acquisition whose lease, of that length, may have begun; it is not touched until `from`.
  unresolved entry_for(const lock_name& name, const core::acquisition_id& id, duration lease, base::instant from) const;
  void add(unresolved e);
  /// The same for an attempt, or a release, that a thread has left in a batch: added when that has ended, if its
  /// outcome requires it. nullptr: it was in no batch.
  void add_when_ended(const combined_call_ptr& left, unresolved e);
  /// Whether a release that failed for this reason may have granted the name to another client.
  bool may_have_granted(const std::exception& why) const noexcept;
  std::optional<core::session_number> permits(std::string_view acquisition, base::instant now) {
    return list_.permits(acquisition, now);
  }

  base::instant next_due() override { return list_.next_due(); }
  void run(const driver::limits& until) noexcept override;
  /// Releases these now, and keeps for later those that could not be released.
  void release_all(std::vector<unresolved> entries, const driver::limits& until);
  /// Releases these and all that may be released: the client closes. A row that another client has locked just then is
  /// asked for again.
  void release_at_the_end(std::vector<unresolved> entries, const driver::limits& until);

 private:
  using verb = std::vector<store::release_outcome> (*)(const store::access&, std::span<const store::lease_ref>);
  void let_grants_end(std::vector<unresolved> some, const driver::limits& until);
  void release_shares(std::vector<unresolved> shares, const driver::limits& until);
  /// `passed_over` receives the entries that others had locked, in place of a later try.
  void release_by(verb how, std::vector<unresolved> entries, const driver::limits& until,
                  std::vector<unresolved>* passed_over = nullptr);
  void settle(unresolved e, store::release_outcome outcome);
  void has_ended(unresolved e, combined_call::fate now) noexcept;
  std::vector<unresolved> release_each_name(std::vector<unresolved> entries, const driver::limits& until);

  gateway& db_;
  release_notices& notices_;
  maintenance& maintenance_;
  unresolved_list list_;
};

/// A renewal that was under way when a lock was released may have prolonged it. The renewal has ended when the
/// maintenance thread handles this entry, or its session is ended first.
unresolved once_more(unresolved e);

}  // namespace rowlock::inline v1::engine
