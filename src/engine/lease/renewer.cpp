#include "engine/lease/renewer.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/waits.hpp"
#include "core/lease.hpp"

namespace rowlock::inline v1::engine {

using namespace std::chrono_literals;

namespace {

bool is_alone(const lease_ptr& a) noexcept { return a->is_alone(); }

// A batch contains a name at most once, and a lost lock may have been acquired again under the same name.
void keep_first_of_each_name(std::vector<lease_ptr>& some) {
  const auto by_name = [](const lease_ptr& a, const lease_ptr& b) {
    return a->name != b->name ? a->name < b->name : is_alone(a) < is_alone(b);
  };
  std::stable_sort(some.begin(), some.end(), by_name);
  const auto rest = std::unique(some.begin(), some.end(), [](const lease_ptr& a, const lease_ptr& b) {
    return a->name == b->name && is_alone(a) && is_alone(b);
  });
  some.erase(rest, some.end());
}

std::vector<store::lease_ref> refs(std::span<const lease_ptr> some) {
  std::vector<store::lease_ref> out;
  out.reserve(some.size());
  for (const auto& a : some) out.push_back(a->ref(a->time_to_live()));
  return out;
}

base::instant retry_time(const lease_state& a) {
  return core::renewal_retry(base::now(), a.time_to_live(), base::jitter());
}

}  // namespace

base::instant renewer::next_due() {
  base::instant next = base::instant::max();
  held_.each([&](const lease_ptr& a) {
    if (a->wants_renewal()) next = std::min(next, a->renewal_due());
  });
  return next;
}

// Leases that are nearly due are included, so that leases of one length soon renew in one step.
std::vector<lease_ptr> renewer::due(base::instant now) {
  std::vector<lease_ptr> out;
  held_.each([&](const lease_ptr& a) {
    if (a->wants_renewal() && core::joins_renewal(a->renewal_due(), now, a->time_to_live())) out.push_back(a);
  });
  keep_first_of_each_name(out);
  return out;
}

// Just before they are sent, because the batch before may have taken long. A lock that was lost meanwhile may not come
// back.
std::vector<lease_ptr> renewer::claim(std::span<const lease_ptr> some, kind of) {
  std::vector<lease_ptr> out;
  for (const auto& a : some) {
    if (!a->claim()) {
      a->set_renewal_due(retry_time(*a));               // an extend is under way
    } else if (a->is_alone() != (of == kind::lease)) {  // it was converted since
      a->set_renewal_due(retry_time(*a));
      a->unclaim();
    } else if (!a->is_held_at(base::now())) {
      a->unclaim();
    } else {
      out.push_back(a);
    }
  }
  return out;
}

void renewer::run(const driver::limits& until) noexcept try {
  auto all = due(base::now());
  const auto first_share = std::stable_partition(all.begin(), all.end(), is_alone);
  passed_over_.clear();
  renew({all.begin(), first_share}, kind::lease, until);
  renew({first_share, all.end()}, kind::share, until);
  renew_passed_over(until);
} catch (const std::exception&) {  // out of memory: they are due again at once
}

// A client that shares a name locks its row for a moment, and if many do, the row is hardly ever unlocked. Then the
// renewal waits for it, a name at a time, the most urgent one first. This may take long, so it ends in time for the
// renewals of leases. The remaining names are due again by themselves.
void renewer::renew_passed_over(const driver::limits& until) {
  const auto more_urgent = [](const lease_ptr& a, const lease_ptr& b) { return a->deadline() < b->deadline(); };
  auto left = std::exchange(passed_over_, {});
  std::stable_sort(left.begin(), left.end(), more_urgent);
  while (!left.empty()) {
    const auto limit = std::min(until.deadline, leases_need_thread());
    if (base::now() >= limit || until.stop.stop_requested()) return;
    const lock_name name = left.front()->name;
    const auto rest = std::stable_partition(left.begin(), left.end(), [&](const auto& a) { return a->name == name; });
    renew({left.begin(), rest}, kind::share, {.deadline = limit, .stop = until.stop});
    left.erase(left.begin(), rest);
  }
}

// Halfway between the time when the first of them is due and its deadline.
base::instant renewer::leases_need_thread() {
  base::instant out = base::instant::max();
  held_.each([&](const lease_ptr& a) {
    if (a->is_alone() && a->wants_renewal())
      out = std::min(out, a->renewal_due() + (a->deadline() - a->renewal_due()) / 2);
  });
  return out;
}

void renewer::renew(const std::vector<lease_ptr>& some, kind of, const driver::limits& until) {
  in_batches(some, [&](std::span<const lease_ptr> part) {
    const auto claimed = claim(part, of);
    if (!claimed.empty()) ask_for_renewal(claimed, until);
    for (const auto& a : claimed) a->unclaim();
  });
}

void renewer::ask_for_renewal(std::span<const lease_ptr> some, const driver::limits& until) {
  // The call may not outlast the leases that it prolongs: a hanging call would hide the loss of the others.
  const base::instant sent = base::now();
  base::instant deadline = std::min(until.deadline, base::later(sent, db_.options().call_timeout));
  for (const auto& a : some) {
    deadline = std::min(deadline, std::max(a->deadline(), base::later(sent, 10ms)));
    a->is_unreachable = true;  // until an answer comes
  }
  try {
    const auto answers = db_.run(
        {.deadline = deadline, .stop = until.stop},
        [&](const store::access& db) { return store::renew(db, refs(some)); }, purpose::renewing);
    for (std::size_t i = 0; i < some.size(); ++i) take_answer(some[i], answers[i], sent);
  } catch (const error& e) {
    if (e.code() == errc::schema_missing && !e.outcome_is_unknown()) return let_go_of(some);
    retry(some);
    if (until.stop.stop_requested()) return;
    for (const auto& a : some) listener_.renewal_failed(*a, e);
  } catch (const std::exception&) {
    retry(some);
  }
}

void renewer::retry(std::span<const lease_ptr> some) {
  for (const auto& a : some) a->set_renewal_due(retry_time(*a));
}

// Without the table there is no row.
void renewer::let_go_of(std::span<const lease_ptr> some) {
  for (const auto& a : some) listener_.gone(a, loss_reason::row_vanished);
}

void renewer::take_answer(const lease_ptr& a, const store::renewal& answer, base::instant sent) {
  const bool is_late = answer.what == store::standing::kept && !a->set_left(sent, answer.left, base::now());
  if (is_late) return;  // it is lost; what the database has prolonged is undone
  a->is_unreachable = false;
  switch (answer.what) {
    case store::standing::kept:
      a->term = db_.guard().term();
      a->set_renewal_due(core::renewal_due(sent, std::min(answer.left, a->time_to_live())));
      listener_.renewed(*a);
      break;
    case store::standing::inconclusive:
      a->set_renewal_due(retry_time(*a));
      if (!a->is_alone()) passed_over_.push_back(a);
      break;
    case store::standing::lost:
      listener_.gone(a, answer.why);
      break;
  }
}

}  // namespace rowlock::inline v1::engine
