#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "core/sharing.hpp"
#include "engine/acquire/attempt.hpp"
#include "engine/gateway/batches.hpp"
#include "store/inspection.hpp"
#include "store/sharing.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::engine {

struct acquirer::readers_look {
  queue_look own{};
  readers behind{};
};

// What the caller of another reader can take as it is.
bool acquirer::takes_share(const acquire_request& what) noexcept {
  return what.call != nullptr && what.share.is_reader() && !what.is_reentrant && !what.options.hold_limit &&
         what.options.at_least == duration::zero();
}

// First as if nobody waited, unless it waits itself, or in turn: that is one statement. Not where the row is marked by
// those only who need not wait for it: readers that come and go would keep a writer from that. A share is not granted
// by a release, and one that is granted lets the next of those who wait hear of it, as all of them may be able to share
// the name.
acquirer::reply acquirer::ask_to_share(const acquire_request& what, const core::acquisition_id& id,
                                       const driver::limits& until) {
  return db_.run(gateway::leaving_a_tenth(until), [&](const store::access& db) -> reply {
    const bool is_marked_for_sure = !db_.can().marks_waiting || db_.can().acquires_in_turn;
    if (what.ticket() == core::ticket_number::none && !what.is_fair() && is_marked_for_sure) {
      const auto one = args_of(what, id);
      const auto sent = base::now();
      auto answer = strategies::share(db, {&one, 1}).at(0);
      if (answer.what != strategies::verdict::inconclusive) return {.sent = sent, .answer = std::move(answer)};
    }
    auto seen = look_for_readers(what, db);
    if (seen.own.refused) return {.sent = base::now(), .answer = std::move(*seen.own.refused)};
    return share_with(what, id, seen, db);
  });
}

// If nobody comes before the last of several readers but who shares the name, too, that is so for all of them.
// Otherwise it asks for fewer, and at last by itself.
acquirer::readers_look acquirer::look_for_readers(const acquire_request& what, const store::access& db) {
  readers_look out;
  if (what.ticket() != core::ticket_number::none && what.share.is_reader())
    out.behind = what.waiter->readers_behind(combined_batch_size - 1);
  while (!out.behind.empty()) {
    auto last = place_of(what);
    last.number = out.behind.back().ticket.number;
    last.patience = duration::zero();
    out.own = look(what, last, db);
    if (!out.own.refused) return out;
    out.behind.resize(out.own.refused->what == strategies::verdict::behind ? out.behind.size() / 2 : 0);
  }
  out.own = look(what, db);
  return out;
}

// The shares of all of them are this client's, each with an acquisition of its own, and nobody relies on one before it
// is handed over: that is under the mutex by which a wait ends. So the share of a reader that has gone meanwhile, or
// for which the answer came too late, is released like any that nobody wants; and if no answer comes, all are.
acquirer::reply acquirer::share_with(const acquire_request& what, const core::acquisition_id& id,
                                     const readers_look& seen, const store::access& db) {
  std::vector<core::acquisition_id> ids(seen.behind.size());
  std::vector<strategies::acquire_args> batch{args_of(what, id)};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& offer = *seen.behind[i].offer;
    ids[i] = who_.next_id();
    batch.push_back({.name = what.name.view(),
                     .owner = who_.owner(),
                     .thread = offer.tenure->by.text(),
                     .acquisition = ids[i].text(),
                     .note = offer.note ? std::string_view{*offer.note} : std::string_view{},
                     .lease = offer.time_to_live(),
                     .share = core::one_reader});
  }
  for (auto& each : batch) each.seen = seen.own.version;
  if (seen.own.version == fencing_token{}) strategies::make_rows(db, {batch.data(), 1});
  const auto sent = base::now();
  std::vector<strategies::answer> answers;
  try {
    answers = strategies::share(db, batch);
  } catch (const error& e) {
    if (e.outcome_is_unknown())
      for (std::size_t i = 0; i < ids.size(); ++i) undo_share(seen.behind[i], ids[i], true);
    throw;
  }
  std::vector<queue_ticket> handed;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (answers[i + 1].what != strategies::verdict::granted) continue;
    if (hand_share(seen.behind[i], ids[i], sent, answers[i + 1])) {
      handed.push_back(seen.behind[i].ticket);
    } else {
      undo_share(seen.behind[i], ids[i], false);
    }
  }
  if (answers[0].what == strategies::verdict::granted && what.waiter != nullptr)
    tickets_.leave(*what.waiter, what.name, std::move(handed), db);
  return {.sent = sent, .answer = std::move(answers[0])};
}

bool acquirer::hand_share(const local_wait_queue::reader& to, const core::acquisition_id& id, base::instant sent,
                          const strategies::answer& granted) {
  const auto take = [&](const lease_ptr& offer) {
    const auto began = offer->asked_at;
    offer->id = id;
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

void acquirer::undo_share(const local_wait_queue::reader& of, const core::acquisition_id& id, bool may_appear) {
  auto entry = locks_.unresolved_ones().entry_for(of.offer->name, id, of.offer->time_to_live(), base::now());
  entry.is_share = true;
  entry.may_appear = may_appear;
  locks_.unresolved_ones().add(std::move(entry));
}

std::optional<strategies::answer> acquirer::find_share(const store::access& db, std::string_view name,
                                                       std::string_view id) {
  const auto own = store::find_share(db, name, id);
  if (!own) return std::nullopt;
  return strategies::answer{
      .what = strategies::verdict::granted, .token = own->info.token, .left = own->info.expires_in};
}

}  // namespace rowlock::inline v1::engine
