#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/boot_clock.hpp"
#include "engine/acquire/attempts.hpp"

// A release does not grant shares, and a granted share hints the next waiter, because all waiters may be able to share
// the name. So one attempt also asks for the readers that come directly after it.

namespace rowlock::inline v1::engine {

// Requests of readers that have not waited yet. Readers of one name are in the same place, so one look is enough. The
// row of a name is made only if no other name has to wait for that.
std::vector<strategies::answer> attempts::share_at_once(how_to_share share, const store::access& db,
                                                        std::span<const strategies::acquire_args> readers) {
  if (is_marked_for_sure()) return share(db, readers);
  std::map<std::string_view, std::size_t> looks;
  std::vector<store::ticket_ref> places;
  for (const auto& each : readers)
    if (looks.emplace(each.name, places.size()).second)
      places.push_back({.name = each.name,
                        .attempt = {},
                        .max_other_permits = each.share.max_other_permits,
                        .patience = core::sharing_patience});
  auto seen = store::look_at_queues(db, places);
  std::vector<strategies::answer> out(readers.size());
  std::vector<strategies::acquire_args> free;
  std::vector<std::size_t> which;  // of the readers, for each that is free
  for (std::size_t i = 0; i < readers.size(); ++i) {
    auto place = seen.at(looks.at(readers[i].name));
    if (auto refusal = refusal_of(place, core::sharing_patience, true)) {
      out[i] = std::move(*refusal);
    } else if (place.has_row) {
      free.push_back(readers[i]);
      free.back().seen = place.version;
      which.push_back(i);
    }
  }
  if (places.size() == 1 && !seen[0].has_row) strategies::make_rows(db, readers.first(1));  // asked again
  if (free.empty()) return out;
  auto answers = share(db, free);
  for (std::size_t i = 0; i < free.size(); ++i) out[which[i]] = std::move(answers[i]);
  return out;
}

// The shares of all of them are this client's, each with an acquisition of its own, and no holder relies on one before
// it is handed over, under the mutex by which a wait ends. So the share of a reader that has left meanwhile, or whose
// answer came too late, is released like any unwanted one; and if there is no answer, all are.
attempts::reply attempts::share_in_turn(attempt& a, const store::access& db) {
  reply out{.sent = base::now()};
  auto behind = look_for_readers(a, db, out);
  if (!behind) return out;
  // They may have begun to wait before the guard was on.
  std::erase_if(*behind, [&](const local_wait_queue::reader& r) { return r.offer->time_to_live() > db.longest_lease; });
  std::vector<core::acquisition_id> ids(behind->size());
  std::vector<strategies::acquire_args> batch{a.batch[0]};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& offer = *(*behind)[i].offer;
    ids[i] = who_.next_id();
    batch.push_back({.name = offer.name.view(),
                     .owner = who_.owner(),
                     .thread = offer.tenure->by.text(),
                     .acquisition = ids[i].text(),
                     .note = offer.note ? std::string_view{*offer.note} : std::string_view{},
                     .lease = offer.time_to_live(),
                     .seen = batch[0].seen,
                     .share = core::one_reader});
  }
  out.sent = base::now();
  std::vector<strategies::answer> answers;
  try {
    answers = strategies::share(db, batch);
    db_.guard().require_fresh(db, {.sheet = db_.sheet(), .session = db.session, .until = db.until});
  } catch (const error& e) {
    if (e.outcome_is_unknown())
      for (std::size_t i = 0; i < ids.size(); ++i) undo_share((*behind)[i], ids[i], true);
    throw;
  }
  std::vector<queue_ticket> handed;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (answers[i + 1].what != strategies::verdict::granted) continue;
    if (hand_share((*behind)[i], ids[i], out.sent, answers[i + 1])) {
      handed.push_back((*behind)[i].ticket);
    } else {
      undo_share((*behind)[i], ids[i], false);
    }
  }
  out.answer = std::move(answers[0]);
  if (out.answer.what != strategies::verdict::granted) return out;
  const bool has_ticket = a.what.ticket() != core::ticket_number::none;
  handed.empty() ? ticket_upkeep::leave(a.what.queued, db) : tickets_.leave(*a.what.queued[0], std::move(handed), db);
  if (has_ticket) cleanup_.wake_next(a.what.names[0], db);
  return out;
}

// If only sharers come before the last of several readers, that is so for all of them. Otherwise it asks for fewer, and
// at last for itself alone. nullopt: it is not its turn.
std::optional<attempts::readers> attempts::look_for_readers(attempt& a, const store::access& db, reply& out) {
  const auto own = a.place();
  readers behind;
  if (a.what.ticket() != core::ticket_number::none && a.what.share.is_reader())
    behind = a.what.queued[0]->waiter().readers_behind(combined_batch_size - 1);
  while (!behind.empty()) {
    auto last = own;
    last.number = behind.back().ticket.number;
    last.patience = duration::zero();
    if (look(a, last, db, out)) return behind;
    behind.resize(out.answer.what == strategies::verdict::behind ? behind.size() / 2 : 0);
  }
  return look(a, own, db, out) ? std::optional{std::move(behind)} : std::nullopt;
}

bool attempts::hand_share(const local_wait_queue::reader& to, const core::acquisition_id& id, base::instant sent,
                          const strategies::answer& granted) {
  const auto take = [&](const lease_ptr& offer) {
    const auto began = offer->asked_at;
    offer->id = id;
    offer->term = db_.guard().term();
    begin(*offer, sent, granted);
    if (offer->deadline() <= base::now()) return false;
    const auto report = [&] {
      db_.events().tell([&] {
        return events::acquired{
            .name = offer->name, .token = offer->token, .strategy = offer->strategy, .waited = base::now() - began};
      });
    };
    return locks_.registry().add(offer, std::ref(report));
  };
  if (!queue_.hand_over_to(to.ticket, take)) return false;
  locks_.keep(*to.offer);
  return true;
}

void attempts::undo_share(const local_wait_queue::reader& of, const core::acquisition_id& id, bool may_appear) {
  auto entry = locks_.unresolved_ones().entry_for(of.offer->name, id, of.offer->time_to_live(), base::now());
  entry.is_share = true;
  entry.may_appear = may_appear;
  locks_.unresolved_ones().add(std::move(entry));
}

}  // namespace rowlock::inline v1::engine
