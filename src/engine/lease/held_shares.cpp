#include <rowlock/error.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/boot_clock.hpp"
#include "base/text.hpp"
#include "engine/lease/held_locks.hpp"
#include "store/leases.hpp"

// The part of held_locks that is for shares only.

namespace rowlock::inline v1::engine {

namespace {

constexpr duration longest_settling = std::chrono::minutes{1};

class being_shared {
 public:
  being_shared(lock_registry& in, lease_state& a) noexcept : in_{in}, a_{a} {}
  being_shared(const being_shared&) = delete;
  being_shared& operator=(const being_shared&) = delete;
  ~being_shared() { in_.end_to_share(a_); }

 private:
  lock_registry& in_;
  lease_state& a_;
};

}  // namespace

// The acquisition does not change, so the row, or the share, shows which of the two it is. While it is claimed no
// renewal is under way that would look for the other. If the reply is lost it may be either: then no holder relies on
// it, and both are released. false: nothing was changed.
bool held_locks::convert(const lease_ptr& a, conversion how, bool is_shared, identity& by) {
  const claimed_lease scope{*a};
  a->was_converted = true;
  if (!a->is_held_at(base::now())) throw lock_lost(*a, a->why_lost());
  const auto attempt = by.next_id();
  const std::string thread{a->by ? a->by->text() : holder::unique().text()};
  const store::conversion what{.lease = {.name = a->name.view(), .acquisition = a->id.text()},
                               .owner = by.owner(),
                               .thread = thread,
                               .note = a->note ? std::string_view{*a->note} : std::string_view{},
                               .attempt = attempt.text(),
                               .permits = a->permits};
  const auto sent = base::now();
  try {
    const auto answer = db_.run(db_.call_limits(), [&](const store::access& db) { return how(db, what); });
    if (!answer) return false;
    a->is_shared = is_shared;
    a->token = answer->token;
    if (!a->set_left(sent, answer->left, base::now())) {
      reconciler_.add(reconciler_.entry_for(*a));  // in its present form
      throw lock_lost(*a, a->why_lost());
    }
    watchdog_.arm(a->deadline());
    return true;
  } catch (const error& e) {
    if (!e.outcome_is_unknown()) throw;
    for (const bool is_share : {true, false}) {
      auto left_over = reconciler_.entry_for(*a);
      left_over.is_share = is_share;
      left_over.may_appear = true;
      reconciler_.add(std::move(left_over));
    }
    gone(a, loss_reason::unreachable);
    throw;
  }
}

bool held_locks::reap_shares(std::span<const lock_name> names, const driver::limits& until) noexcept try {
  std::vector<std::string_view> texts;
  for (const auto& each : names) texts.push_back(each.view());
  return db_.run(until, [&](const store::access& db) { return store::reap_shares(db, texts); });
} catch (const error& e) {
  if (e.connection_is_unusable())
    for (const auto& each : names) settle_later(each);
  return false;
} catch (const std::exception&) {
  return false;
}

std::optional<duration> held_locks::left_of_shares(const lock_name& name, std::optional<duration> left,
                                                   const driver::limits& until) noexcept try {
  return db_.run(until, [&](const store::access& db) { return store::left_of_shares(db, name.view(), left); });
} catch (const std::exception&) {
  return left;
}

// The reconciler ends lost sessions before it releases anything: here, a share that no client holds.
void held_locks::settle_later(const lock_name& name) {
  auto e = reconciler_.entry_for(name, core::acquisition_id{}, longest_settling, base::now());
  e.is_share = true;
  reconciler_.add(std::move(e));
}

void held_locks::lost_while_converted(const lease_ptr& a) {
  gone(a, loss_reason::taken_over);
  throw lock_lost(*a, a->why_lost());
}

bool held_locks::upgrade(const lease_ptr& a, identity& by) {
  if (a->is_alone()) return true;
  const auto under_way = begin_call(*a);
  if (convert(a, store::upgrade_share, false, by)) return true;
  const auto name = a->name.view();
  const auto until = db_.call_limits();
  if (reap_shares({&a->name, 1}, until) && convert(a, store::upgrade_share, false, by)) return true;
  if (db_.run(until, [&](const store::access& db) { return store::has_share(db, name, a->id.text()); })) return false;
  lost_while_converted(a);
}

void held_locks::downgrade(const lease_ptr& a, identity& by) {
  if (!a->is_alone()) return;
  const auto under_way = begin_call(*a);
  if (!a->has_lease || a->at_least > duration::zero())
    throw error{errc::unsupported, "only a lease without at_least can be shared; release the lock, and share the name"};
  if (!registry_.begin_to_share(*a))
    throw error{errc::unsupported,
                "the holder holds " + base::quoted(a->name.view()) +
                    " more than once, and relies on holding it exclusively; release the other handles"};
  const being_shared until_answered{registry_, *a};
  if (!convert(a, store::downgrade, true, by)) lost_while_converted(a);
  notices_.released(a->name, false);
  notices_.pass_on(a->name);  // a reader of another client may come before the next waiter here
}

}  // namespace rowlock::inline v1::engine
