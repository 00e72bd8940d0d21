#include "recipes/database_threads.hpp"

#include <exception>
#include <memory>
#include <utility>

#include "base/start_thread.hpp"

namespace rowlock::inline v1::recipes {

namespace {

/// Shared by those who release, and the one who waits for them.
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

void database_threads::tell(std::size_t database, errand what) {
  auto& to = all_[database];
  to.errands.lock()->push_back(std::move(what));
  to.told.notify_all();
}

void database_threads::worker::run(const std::stop_token& stop) {
  for (;;) {
    errand next;
    {
      auto all = errands.lock();
      if (!told.wait(all.lock(), stop, [&] { return !all->empty(); })) return;
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
    tell(each.database, [progress, lock] { progress->done(failure_of_release(*lock)); });
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
