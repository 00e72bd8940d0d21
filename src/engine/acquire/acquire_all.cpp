#include <rowlock/error.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "core/checks.hpp"
#include "core/sharing.hpp"
#include "core/wait.hpp"
#include "engine/acquire/attempt.hpp"
#include "store/inspection.hpp"
#include "store/leases.hpp"
#include "store/sharing.hpp"
#include "strategy/strategy.hpp"

// Several names are had all at once, by one statement, or not at all: so nobody waits while it holds some of them, and
// there is no order in which they could be taken wrongly. A call that waits has a ticket in the queue of each name, and
// tries for all of them again whenever one of them may be free. A release grants it nothing meanwhile, since it would
// have one name then, and wait for the others.

namespace rowlock::inline v1::engine {

namespace {

std::vector<lock_name> sorted(std::span<const lock_name> names) {
  std::vector<lock_name> out{names.begin(), names.end()};
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

std::vector<lease_ptr> acquirer::acquire_all(std::span<const lock_name> names, const lock_options& options,
                                             const std::optional<holder>& by, duration wait,
                                             const std::stop_token& stop) {
  if (db_.is_foreign()) db_.check_usable();
  if (names.empty()) throw error{errc::invalid_option, "there is no name to acquire; give at least one"};
  if (options.strategy == strategy::for_update)
    throw error{
        errc::unsupported,
        "several names are had together by leases; use unique_index or version_cas, or lock_in in one transaction"};
  for (const auto& name : names) locks_.optimists().refuse(name);
  using enum counters::outcome;
  wanted_set set{.names = sorted(names), .again = by};
  counted_call call{db_.events().numbers(), options.strategy};
  for (const auto& name : set.names) cleanup_.clear(name, wait, stop);
  const auto lease = acquire({.name = set.names.front(),
                              .options = options,
                              .by = by ? *by : holder::unique(),
                              .is_reentrant = by.has_value(),
                              .call = &call,
                              .set = &set},
                             wait, stop);
  end(call, lease != nullptr, names[0], options.strategy, stop);
  for (std::size_t i = 1; i < set.got.size(); ++i)
    db_.events().numbers().ended(options.strategy, acquired, call.elapsed());
  return std::move(set.got);
}

acquirer::attempt_result acquirer::try_all(const acquire_request& what, const driver::limits& until, int tries) {
  attempt_result out;
  db_.check_usable();
  const auto try_for_all = [&] {
    auto attempt = prepare(what);
    try {
      return take_all(what, attempt, until, out);
    } catch (...) {
      let_go(attempt.had);
      throw;
    }
  };
  retry_inconclusive(db_, until.stop, try_for_all, tries);
  return out;
}

// What its holder has already, it has again; the others are asked for.
acquirer::set_attempt acquirer::prepare(const acquire_request& what) {
  const auto& set = *what.set;
  set_attempt out;
  out.ids.reserve(set.names.size());  // which the requests refer to
  for (std::size_t i = 0; i < set.names.size(); ++i) {
    auto lease = set.again ? locks_.registry().again(set.names[i], *set.again, true, base::now()) : nullptr;
    if (lease) {
      out.had.push_back(std::move(lease));
      continue;
    }
    out.places.push_back(i);
    out.ids.push_back(who_.next_id());
    out.batch.push_back(args_of(what.of(set.names[i]), out.ids.back()));
  }
  return out;
}

// false: it is not known why.
bool acquirer::take_all(const acquire_request& what, set_attempt& attempt, const driver::limits& until,
                        attempt_result& out) {
  auto& set = *what.set;
  auto sent = base::now();
  auto answer = ask_for_all(what, attempt, until, sent);
  if (!answer.granted.empty() || attempt.batch.empty()) {
    if (!admit_all(what, attempt, sent, answer.granted)) return false;
    out.lease = set.got.front();
    return true;
  }
  let_go(attempt.had);
  if (!answer.busy) return false;
  out.why = {.left = answer.why.left,
             .is_free = answer.why.what == strategies::verdict::behind,
             .is_behind = answer.why.is_behind,
             .is_told = wakeups_.is_told(is_marked(set))};
  return true;
}

bool acquirer::is_marked(const wanted_set& set) {
  return !set.waiters.empty() &&
         std::all_of(set.waiters.begin(), set.waiters.end(), [](const auto* w) { return w->is_marked(); });
}

// If the reply is lost, one look tells: either all of the rows have their acquisitions, or none has. A statement that
// may come yet is undone.
strategies::all_of_several acquirer::ask_for_all(const acquire_request& what, set_attempt& attempt,
                                                 const driver::limits& until, base::instant& sent) {
  if (attempt.batch.empty()) return {};
  try {
    return db_.run(gateway::leaving_a_tenth(until), [&](const store::access& db) -> strategies::all_of_several {
      const auto take = [&](bool asks_the_queues) {
        if (asks_the_queues)
          if (auto refused = refused_in_turn(what, attempt, db)) return std::move(*refused);
        sent = base::now();
        return strategies::take_all(db, attempt.batch);
      };
      auto answer = take(what.is_fair() || what.ticket() != core::ticket_number::none);
      if (answer.is_waited_for) answer = take(true);
      if (!answer.granted.empty()) ticket_upkeep::leave(what.set->waiters, db);
      return answer;
    });
  } catch (const error& e) {
    if (!e.outcome_is_unknown()) throw;
    auto adopted = adopt_all(attempt, until);
    if (!adopted.granted.empty()) return adopted;
    for (std::size_t i = 0; i < attempt.ids.size(); ++i)
      leave_unresolved(what.of(what.set->names[attempt.places[i]]), attempt.ids[i]);
    throw;
  }
}

// In turn for all of them: whoever has an earlier ticket for one of the names goes before. Each row must be as it was
// then. nullopt: it is its turn.
std::optional<strategies::all_of_several> acquirer::refused_in_turn(const acquire_request& what, set_attempt& attempt,
                                                                    const store::access& db) {
  std::vector<store::ticket_ref> places;
  for (const auto& each : attempt.batch) {
    places.push_back(place_of(what));
    places.back().name = each.name;
  }
  const auto turns = store::look_at_queues(db, places);
  std::vector<strategies::acquire_args> missing;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const auto& turn = turns[i];
    const auto name = attempt.batch[i].name;
    displace_if_gone(what, name, turn);
    if (!turn.looks_free) {
      const bool is_shared = core::is_shared(turn.holding);
      if (is_shared && store::reap_shares(db, name)) return strategies::all_of_several{};  // asked again
      const auto left = is_shared ? store::left_of_shares(db, name, turn.left) : turn.left;
      return strategies::all_of_several{
          .busy = i, .why = {.what = strategies::verdict::busy, .left = left, .is_behind = turn.is_behind}};
    }
    if (turn.is_behind && core::yields_for(turn.left, what.patience()) != duration::zero())
      return strategies::all_of_several{
          .busy = i,
          .why = {
              .what = strategies::verdict::behind, .left = what.comes_again_after(std::nullopt), .is_behind = true}};
    if (!turn.has_row) missing.push_back(attempt.batch[i]);
    attempt.batch[i].seen = turn.version;
  }
  if (missing.empty()) return std::nullopt;
  strategies::make_rows(db, missing);  // asked again, by what the rows say then
  return strategies::all_of_several{};
}

// Of its tickets the look asks for the least one only. The others are found missing when they are refreshed.
void acquirer::displace_if_gone(const acquire_request& what, std::string_view name, const store::turn& seen) {
  const auto& set = *what.set;
  for (std::size_t i = 0; i < set.waiters.size(); ++i)
    if (!seen.has_ticket && set.names[i].view() == name &&
        set.waiters[i]->ticket_number() != core::ticket_number::none &&
        set.waiters[i]->ticket_number() == what.ticket())
      tickets_.displace(*set.waiters[i], set.names[i]);
}

// Renewed first, as by adopt().
strategies::all_of_several acquirer::adopt_all(const set_attempt& attempt, const driver::limits& until) noexcept try {
  if (base::now() >= until.deadline || until.stop.stop_requested()) return {};
  return db_.run(
      until,
      [&](const store::access& db) -> strategies::all_of_several {
        db_.database().end_lost_sessions(db.session, until);
        const auto rows = strategies::look_at_all(db, attempt.batch);
        std::vector<store::lease_ref> own;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          if (!rows[i] || !rows[i]->is_held_by(attempt.ids[i].text())) return {};
          const auto& one = attempt.batch[i];
          own.push_back({.name = one.name, .acquisition = one.acquisition, .lease = one.lease});
        }
        strategies::all_of_several out;
        for (const auto& each : store::renew(db, own)) {
          if (each.what != store::standing::kept) return {};
          const auto& row = *rows[out.granted.size()];
          out.granted.push_back({.what = strategies::verdict::granted, .token = row.token, .left = each.left});
        }
        return out;
      },
      purpose::releasing);
} catch (const std::exception&) {
  return {};
}

// false: one of the answers took so long that it is not to be relied on. Then it has none of them: what was admitted is
// let go of, and what was not is undone, also where the client is closed meanwhile.
bool acquirer::admit_all(const acquire_request& what, const set_attempt& attempt, base::instant sent,
                         std::span<const strategies::answer> granted) {
  auto& set = *what.set;
  std::vector<lease_ptr> got{attempt.had};
  std::size_t next = 0;
  const auto request = [&](std::size_t i) { return what.of(set.names[attempt.places[i]]); };
  const auto undo_the_rest = [&] {
    for (; next < granted.size(); ++next) leave_unresolved(request(next), attempt.ids[next]);
  };
  try {
    while (next < granted.size()) {
      const auto i = next++;
      auto lease = admit(request(i), attempt.ids[i], {.sent = sent, .answer = granted[i]});
      if (!lease) {
        let_go(got);
        undo_the_rest();
        return false;
      }
      got.push_back(std::move(lease));
    }
  } catch (...) {
    got.erase(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(attempt.had.size()));
    let_go(got);
    undo_the_rest();
    throw;
  }
  std::sort(got.begin(), got.end(), [](const lease_ptr& a, const lease_ptr& b) { return a->name < b->name; });
  set.got = std::move(got);
  return true;
}

void acquirer::let_go(std::span<const lease_ptr> some) noexcept {
  for (const auto& each : some) locks_.release_soon(each);
}

}  // namespace rowlock::inline v1::engine
