#include "engine/client_core.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "base/process.hpp"
#include "core/checks.hpp"
#include "core/error_detail.hpp"
#include "core/url.hpp"

namespace rowlock::inline v1::engine {

namespace {

client_options checked(client_options options) {
  core::check(options);
  return options;
}

constexpr auto last_moment = std::chrono::milliseconds{100};

// In a child of a fork it is never destroyed: its threads do not exist there and cannot be joined, its mutexes may be
// locked for ever, and closing an inherited SQLite connection harms the file's locks.
void destroy(client_core* core) noexcept {
  if (!core->is_foreign()) delete core;  // NOLINT(cppcoreguidelines-owning-memory): a shared_ptr's deleter
}

// --- the end of the program ------------------------------------------------------------------------------------------

struct open_clients {
  const std::uint64_t generation = base::process_generation();
  std::mutex mutex;
  std::vector<std::weak_ptr<client_core>> all;
  std::vector<const driver::backend*> kinds;  // whose static objects are older than an exit handler
};

// Never destroyed: it is used until the very end. The child of a fork begins another one, since no thread there may be
// able to unlock the parent's.
open_clients& current() {
  static std::atomic<open_clients*> the{nullptr};
  open_clients* found = the.load();
  if (found != nullptr && found->generation == base::process_generation()) return *found;
  auto fresh = std::make_unique<open_clients>();
  return the.compare_exchange_strong(found, fresh.get()) ? *fresh.release() : *found;
}

void close_all() {
  auto& open = current();
  std::vector<std::weak_ptr<client_core>> all;
  {
    const std::lock_guard lock{open.mutex};
    all.swap(open.all);
  }
  for (const auto& each : all)
    if (const auto found = each.lock()) found->close();
}

// If it still exists, it is closed before the static objects are destroyed that exist by now: a driver may need some,
// and a client in an older static variable would outlive them. Each kind of driver has static objects of its own, so
// everything is closed before those of the last kind are destroyed.
void close_at_exit(const std::shared_ptr<client_core>& client) {
  auto& open = current();
  const std::lock_guard lock{open.mutex};
  const auto* const kind = &client->db.kind();
  if (std::find(open.kinds.begin(), open.kinds.end(), kind) == open.kinds.end()) {
    open.kinds.push_back(kind);
    std::atexit(close_all);  // NOLINT(cert-err33-c): where it cannot, what is left to do?
  }
  std::erase_if(open.all, [](const auto& each) { return each.expired(); });
  open.all.push_back(client);
}

}  // namespace

std::shared_ptr<client_core> client_core::open(const driver::backend& kind, std::string_view url,
                                               client_options options) try {
  std::shared_ptr<client_core> client{new client_core{kind, url, checked(std::move(options))}, destroy};
  if (client->db.database().needs_static_objects()) close_at_exit(client);
  return client;
} catch (const error&) {
  throw;
} catch (const std::system_error& e) {  // no descriptor or no thread was left
  throw detail::error_access::make(errc::connection_failed,
                                   std::string{"the client's threads cannot be started: "} + e.what(),
                                   {.retryable = true, .connection_unusable = true});
}

client_core::client_core(const driver::backend& kind, std::string_view url, client_options options)
    : options_{std::move(options)},
      who_{options_.application},
      events{options_.observer, options_.call_timeout},
      db{kind, core::cut_url(url), options_, who_, events},
      background{options_.call_timeout},
      cleanup{db, who_, queue, background},
      tickets{db, who_, queue, cleanup, background},
      locks{db, queue, cleanup, background},
      hints{db, who_, queue, tickets, cleanup},
      deadlocks{db, queue, locks.registry(), background},
      acquiring{db, who_, locks, queue, tickets, cleanup, hints, deadlocks},
      transactions{db, who_, locks, acquiring, cleanup},
      inspection{db, locks.registry()},
      freeing{db, locks, cleanup},
      asynchronous{options_.async_threads} {
  db.connect();
  locks.start();
  background.add(cleanup);
  background.add(tickets);
  background.add(deadlocks);
  background.start();
}

// First the waits end; then no holder relies on a lock any more; then the threads end, and the held locks are released.
void client_core::close() noexcept {
  if (!db.begin_close()) return;
  const auto until = db.call_limits();
  queue.close();
  auto given_up = locks.give_up_all(until);
  asynchronous.close(gateway::leaving_a_tenth(until).deadline);
  db.wait_for_calls(until.deadline);
  db.end_batches();
  locks.stop_watching();
  background.stop();
  hints.stop();
  locks.release_given_up(std::move(given_up), until);
  cleanup.leave_all(until);
  db.close(until);
  locks.end_callbacks(until.deadline);
  // Events that were just reported get a moment, even if all the time is over.
  events.close(std::max(until.deadline, base::later(base::now(), last_moment)));
}

// In a child the mutexes may be locked for ever.
client_statistics client_core::stats() {
  if (is_foreign()) db.check_usable();
  auto out = events.numbers().read();
  out.statements = events.calls().read();
  out.dropped_events = events.dropped_events();
  locks.registry().each([&](const lease_ptr& a) {
    if (a->counts != nullptr && a->is_held()) ++out.held;
  });
  const auto connections = db.connections();
  out.connections = connections.open;
  out.connections_in_use = connections.in_use;
  out.held_transactions = db.held_transactions().in_use;
  out.quarantine = db.guard().quarantine_left().value_or(duration::zero());
  return out;
}

}  // namespace rowlock::inline v1::engine
