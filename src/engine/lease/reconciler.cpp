#include "engine/lease/reconciler.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <utility>

#include "base/boot_clock.hpp"
#include "core/lease.hpp"

namespace rowlock::inline v1::engine {

namespace {

std::vector<store::release_outcome> release_all_of(const store::access& db, std::span<const store::lease_ref> batch) {
  return store::release(db, batch);
}

}  // namespace

std::vector<unresolved> take_repeated_names(std::vector<unresolved>& from) {
  std::set<lock_name> seen;
  return extract_if(from, [&](const unresolved& e) { return !seen.insert(e.name).second; });
}

std::vector<unresolved> take_staying(std::vector<unresolved>& from, base::instant now) {
  return extract_if(from, [now](const unresolved& e) { return e.stays_until > now; });
}

unresolved once_more(unresolved e) {
  e.may_be_prolonged = false;
  return e;
}

unresolved reconciler::entry_for(const lock_name& name, const core::acquisition_id& id, duration lease,
                                 base::instant from) const {
  // The row is free by itself then, and no earlier statement can take effect.
  const base::instant until = base::later(base::later(base::now(), lease), db_.options().call_timeout);
  return {.name = name, .acquisition = id, .until = until, .from = from, .next = from};
}

unresolved reconciler::entry_for(const lease_state& a) const {
  auto e = entry_for(a.name, a.id, a.outlives_by(), base::now());
  e.is_share = !a.is_alone();
  e.at_least = a.at_least;
  e.stays_until = a.stays_until;
  e.confirmed_by = a.confirmed_by();
  e.may_be_prolonged = a.may_be_prolonged();
  return e;
}

void reconciler::add(unresolved e) {
  const base::instant from = e.next;
  list_.add(std::move(e));
  maintenance_.wake_at(from);
}

void reconciler::add_when_ended(const combined_call_ptr& left, unresolved e) {
  if (!left) return add(std::move(e));
  left->give_up([this, e = std::move(e)](combined_call::fate now) { has_ended(e, now); });
}

// By a worker of the combiner. An attempt that was refused has left nothing; one that was granted, or a lock whose
// release is answered, is in the database now or never.
void reconciler::has_ended(unresolved e, combined_call::fate now) noexcept try {
  if (now == combined_call::fate::nothing && !e.notifies_if_gone) return;
  if (now != combined_call::fate::unknown) e.may_appear = e.may_have_granted = false;
  add(std::move(e));
} catch (const std::exception&) {  // out of memory: its lease ends
}

void reconciler::run(const driver::limits& until) noexcept try {
  list_.add_all(release_each_name(list_.take_due(base::now()), until));  // the rest is still due: renewals come before
                                                                         // it
  maintenance_.wake_at(list_.next_due());
} catch (const std::exception&) {  // out of memory: their leases end
}

void reconciler::release_all(std::vector<unresolved> entries, const driver::limits& until) {
  while (!entries.empty()) entries = release_each_name(std::move(entries), until);
  maintenance_.wake_at(list_.next_due());
}

void reconciler::release_at_the_end(std::vector<unresolved> entries, const driver::limits& until) {
  repeat_at_the_end(until, [&] {
    for (auto& e : list_.take_permitted(base::now())) entries.push_back(std::move(e));
    release_all(std::exchange(entries, {}), until);
    return !list_.has_permitted(base::now());
  });
}

// Releases one acquisition of each name: the others are answered with their present state.
std::vector<unresolved> reconciler::release_each_name(std::vector<unresolved> entries, const driver::limits& until) {
  let_grants_end(extract_if(entries, [](const unresolved& e) { return e.may_have_granted; }), until);
  auto shares = extract_if(entries, [](const unresolved& e) { return e.is_share; });
  auto rest = take_repeated_names(entries);
  auto staying = take_staying(entries, base::now());
  release_by(release_all_of, std::move(entries), until);
  release_by(store::defer_release, std::move(staying), until);
  release_shares(std::move(shares), until);
  return rest;
}

// A batch of several names passes over the rows that others have locked just then. These are released name by name,
// with waits: one time limit for all might leave some without an answer. If a cut call has released a share, the
// repetition finds that it was deleted.
void reconciler::release_shares(std::vector<unresolved> shares, const driver::limits& until) {
  std::vector<unresolved> passed_over;
  while (!shares.empty()) {
    const auto rest = shares.begin() + static_cast<std::ptrdiff_t>(std::min(shares.size(), batch_size));
    std::vector<unresolved> some{std::make_move_iterator(shares.begin()), std::make_move_iterator(rest)};
    shares.erase(shares.begin(), rest);
    release_by(release_all_of, std::move(some), until, &passed_over);
  }
  while (!passed_over.empty()) {
    const lock_name name = passed_over.front().name;
    release_by(release_all_of, extract_if(passed_over, [&](const unresolved& e) { return e.name == name; }), until);
  }
}

// A release does not wait for the disk of every server. If it has granted the name, and a crash has undone that, the
// row is this client's again while the next holder believes in the grant. So the release is not repeated before the
// grant is over.
void reconciler::let_grants_end(std::vector<unresolved> some, const driver::limits& until) {
  if (some.empty()) return;
  if (!db_.end_lost_sessions(until)) return list_.put_back(std::move(some), base::now());
  for (auto& e : some) {
    e.may_have_granted = false;
    e.from = e.next = base::later(base::now(), core::longest_grant);
    list_.add(std::move(e));
  }
}

bool reconciler::may_have_granted(const std::exception& why) const noexcept {
  const auto* e = dynamic_cast<const error*>(&why);
  return db_.database().has_row_locks() && (e == nullptr || e->outcome_is_unknown());
}

void reconciler::release_by(verb how, std::vector<unresolved> entries, const driver::limits& until,
                            std::vector<unresolved>* passed_over) {
  if (entries.empty()) return;
  std::vector<store::lease_ref> batch;
  batch.reserve(entries.size());
  for (const auto& e : entries)
    batch.push_back(
        {.name = e.name.view(), .acquisition = e.acquisition.text(), .lease = e.at_least, .is_share = e.is_share});
  try {
    const auto outcomes = db_.run(
        until,
        [&](const store::access& db) {
          db_.database().end_lost_sessions(db.session, until);
          return how(db, batch);
        },
        purpose::releasing);
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (passed_over != nullptr && outcomes[i] == store::release_outcome::pinned)
        passed_over->push_back(std::move(entries[i]));
      else
        settle(std::move(entries[i]), outcomes[i]);
  } catch (const std::exception& why) {
    for (auto& e : entries) e.may_have_granted = may_have_granted(why);
    list_.put_back(std::move(entries), base::now());
  }
}

// A statement that was not seen may still arrive. An acquisition that was not in the row any more is settled.
void reconciler::settle(unresolved e, store::release_outcome outcome) {
  if (store::is_released(outcome)) {
    if (e.may_be_prolonged) list_.put_back({once_more(e)}, base::now());
    notices_.released(e.name, outcome == store::release_outcome::released_unnotified);
    return;
  }
  if (outcome == store::release_outcome::pinned || e.may_appear) return list_.put_back({std::move(e)}, base::now());
  if (e.notifies_if_gone) notices_.released(e.name, true);
}

}  // namespace rowlock::inline v1::engine
