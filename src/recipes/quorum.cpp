#include "recipes/quorum.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

#include "base/process.hpp"
#include "base/waits.hpp"

namespace rowlock::inline v1::recipes {

quorum::quorum(std::size_t databases) : slots_(databases) { data_.lock()->unanswered = databases; }

/// Looks at each member's own clock, and decides.
void quorum::look(data& d) const {
  for (auto& each : d.members) {
    if (each.is_lost) continue;
    const auto why = each.lock.why_lost();
    if (why == loss_reason::none) continue;
    each.is_lost = true;
    d.why = why;
  }
  const auto lost = static_cast<std::size_t>(
      std::count_if(d.members.begin(), d.members.end(), [](const member& each) { return each.is_lost; }));
  const auto held = d.members.size() - lost;
  if (d.now == status::asking && held >= majority())
    d.now = status::held;
  else if (d.now == status::asking && held + d.unanswered < majority())
    d.now = status::refused;
  else if (d.now == status::held && held < majority())
    d.now = status::lost;
}

void quorum::answered(data& d) {
  --d.unanswered;
  look(d);
  changed_.notify_all();
}

bool quorum::is_wanted() {
  const auto d = data_.lock();
  look(*d);
  return d->now == status::asking || d->now == status::held;
}

// The listener is registered before the lock counts, so that no loss of a counted lock is missed. Until the lock
// counts, the notice does nothing: if the lock is already lost, the notice runs right here, and no callback of the user
// may run on this thread, which the user may want to join.
std::optional<held_lock> quorum::granted(std::size_t database, held_lock lock) {
  auto& mine = slots_[database];
  mine.on_loss.emplace(lock.lost(), notice{weak_from_this(), database});
  mine.is_armed = true;
  const auto d = data_.lock();
  look(*d);
  const bool is_wanted = d->now == status::asking || d->now == status::held;
  if (!is_wanted || lock.why_lost() != loss_reason::none) {
    answered(*d);
    return lock;
  }
  const auto place =
      std::find_if(d->members.begin(), d->members.end(), [&](const member& each) { return each.database > database; });
  d->members.insert(place, {.database = database, .lock = std::move(lock)});
  answered(*d);
  return std::nullopt;
}

void quorum::refused() { answered(*data_.lock()); }

void quorum::failed(const error& why) {
  const auto d = data_.lock();
  auto& all = d->answers;
  ++all.failed;
  if (!all.first_error) all.first_error = why;
  if (!why.is_retryable() && !why.outcome_is_unknown()) {
    ++all.hopeless;
    if (!all.first_hopeless) all.first_hopeless = why;
  }
  answered(*d);
}

bool quorum::wait(base::instant until, const std::stop_token& stop) {
  auto d = data_.lock();
  base::wait_until(changed_, d.lock(), until, stop, [&] { return d->now != status::asking; });
  return d->now == status::held || d->now == status::lost;
}

quorum::remains quorum::end() {
  const auto d = data_.lock();
  look(*d);
  auto out = std::move(d->answers);
  if (d->now == status::asking) out.failed += d->unanswered;
  out.was_lost = d->now == status::lost;
  d->now = status::over;
  out.members = std::move(d->members);
  d->members.clear();
  return out;
}

loss_reason quorum::why_lost() {
  const auto d = data_.lock();
  look(*d);
  return d->now == status::lost ? d->why : loss_reason::none;
}

std::stop_token quorum::lost() {
  fire_if_lost();  // the watchdog may not have noticed a loss yet
  return lost_.get_token();
}

void quorum::member_is_lost(std::size_t database) {
  if (slots_[database].is_armed) fire_if_lost();
}

void quorum::fire_if_lost() {
  {
    const auto d = data_.lock();
    look(*d);
    changed_.notify_all();
    if (d->now != status::lost || std::exchange(d->has_fired, true)) return;
  }
  lost_.request_stop();
}

namespace {

/// Shared by the releasing threads and the thread that waits for them.
struct releases {
  struct numbers {
    std::size_t left = 0;
    std::size_t released = 0;
    std::optional<error> first_failure{};
  };
  base::guarded<numbers> so_far;
  std::condition_variable_any changed;

  void done(const std::optional<error>& failure) {
    const auto n = so_far.lock();
    --n->left;
    if (!failure) ++n->released;
    if (failure && !n->first_failure) n->first_failure = failure;
    changed.notify_all();
  }
};

std::optional<error> failure_of_release(held_lock& lock) noexcept try {
  lock.release();
  return std::nullopt;
} catch (const error& e) {
  return e;
} catch (const std::exception& e) {
  return error{errc::database_error, e.what()};
}

}  // namespace

database_threads::database_threads(std::size_t number) : all_(number) {
  for (auto& each : all_) each.thread = base::start_thread([&each](const std::stop_token& stop) { each.run(stop); });
}

void database_threads::post(std::size_t database, errand what) {
  auto& to = all_[database];
  to.errands.lock()->push_back(std::move(what));
  to.has_errand.notify_all();
}

void database_threads::worker::run(const std::stop_token& stop) {
  for (;;) {
    errand next;
    {
      auto all = errands.lock();
      if (!has_errand.wait(all.lock(), stop, [&] { return !all->empty(); })) return;
      next = std::move(all->front());
      all->pop_front();
    }
    next();
  }
}

std::optional<error> database_threads::release(std::vector<quorum::member> some, std::size_t enough) {
  const auto progress = std::make_shared<releases>();
  progress->so_far.lock()->left = some.size();
  for (auto& each : some) {
    const auto lock = std::make_shared<held_lock>(std::move(each.lock));
    post(each.database, [progress, lock] { progress->done(failure_of_release(*lock)); });
  }
  auto n = progress->so_far.lock();
  progress->changed.wait(n.lock(), [&] { return n->released >= enough || n->left == 0; });
  return n->released >= enough ? std::nullopt : n->first_failure;
}

void database_threads::release_soon(std::vector<quorum::member> some) noexcept try {
  release(std::move(some), 0);
} catch (...) {  // NOLINT(bugprone-empty-catch): out of memory; its destructor has released what could not be sent
}

}  // namespace rowlock::inline v1::recipes
