#include "engine/events/event_dispatcher.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/boot_clock.hpp"
#include "base/guarded.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/waits.hpp"
#include "core/checks.hpp"

namespace rowlock::inline v1::engine {

namespace {

std::string sentence(const events::lost& e) {
  return "lost the lock " + base::quoted(e.name.view()) + " (" + std::string{to_string(e.reason)} + ")";
}
std::string sentence(const events::release_failed& e) {
  return "the lock " + base::quoted(e.name.view()) + " was not released: " + e.cause.what();
}
std::string sentence(const events::sweep_failed& e) { return std::string{"a sweep failed: "} + e.cause.what(); }
std::string sentence(const events::warning& e) { return e.sentence; }
std::string sentence(const events::quarantine& e) {
  return "nothing is granted for " + core::in_whole_seconds(e.left) +
         ": a failover or a crash may have lost the last commits, or longer leases are out (the server continues the "
         "history " +
         e.incarnation + ")";
}

template <class Kind>
concept for_people = requires(const Kind& e) {
  sentence(e);
};

bool is_for_people(const event& e) noexcept {
  return std::visit([]<class Kind>(const Kind& /*what*/) { return for_people<Kind>; }, e.what);
}

void to_clog(const event& e) {
  std::visit(
      []<class Kind>(const Kind& what) {
        if constexpr (for_people<Kind>) std::clog << "rowlock: " + base::printable(sentence(what)) + "\n" << std::flush;
      },
      e.what);
}

/// With how many waiting events another one of this kind is still kept.
template <class Kind>
constexpr std::optional<std::size_t> limit() noexcept {
  if constexpr (for_people<Kind> || std::is_same_v<Kind, events::polling> || std::is_same_v<Kind, events::dropped>) {
    return std::nullopt;
  } else if constexpr (std::is_same_v<Kind, events::failed> || std::is_same_v<Kind, events::renewal_failed>) {
    return event_dispatcher::most_failures;
  } else {
    return event_dispatcher::most;
  }
}

constexpr auto longest_gathering = std::chrono::milliseconds{10};
constexpr std::size_t most_gathered = 1000;

std::optional<std::size_t> limit_of(const event& e) noexcept {
  return std::visit([]<class Kind>(const Kind& /*what*/) { return limit<Kind>(); }, e.what);
}

}  // namespace

struct event_dispatcher::shared {
  struct contents {
    std::deque<event> waiting;
    bool is_urgent = false;     // one of these
    bool is_asleep = false;     // the thread, until there is something to report
    bool is_gathering = false;  // the same, until there is something urgent
    std::uint64_t dropped = 0;
    std::uint64_t dropped_unreported = 0;
    std::thread thread;
    bool is_behind = false;
    bool is_closing = false;
    bool is_closed = false;
    bool is_over = false;  // the thread has reported its last event
  };

  explicit shared(observer o) : notify{std::move(o)} {}

  const observer notify;
  const std::uint64_t generation = base::process_generation();
  std::condition_variable_any changed;
  base::guarded<contents> state;

  /// Whether an event of this kind is kept.
  static bool has_room(contents& in, const event& e) noexcept {
    const auto size = in.waiting.size();
    in.is_behind = in.is_behind || size >= most;
    const auto most_of_kind = limit_of(e);
    const bool has = !most_of_kind || (*most_of_kind > most ? size < *most_of_kind : !in.is_behind);
    if (has) return true;
    ++in.dropped;
    ++in.dropped_unreported;
    return false;
  }

  static bool keep(contents& in, event e) {
    in.is_urgent = in.is_urgent || limit_of(e) != most;
    in.waiting.push_back(std::move(e));
    return std::exchange(in.is_asleep, false) ||
           (in.is_gathering && (in.is_urgent || in.waiting.size() == most_gathered));
  }

  // If frequent events were reported one by one, each would cost its reporter a switch of threads.
  void gather(base::guarded<contents>::access& s) {
    s->is_gathering = true;
    changed.wait_for(s.lock(), longest_gathering,
                     [&] { return s->is_urgent || s->is_closing || s->waiting.size() >= most_gathered; });
    s->is_gathering = false;
  }

  /// nullopt: there will be no more.
  std::optional<event> next() {
    auto s = state.lock();
    if (s->waiting.empty() && !s->is_closing) {
      s->is_asleep = true;
      changed.wait(s.lock(), [&] { return !s->waiting.empty() || s->is_closing; });
      s->is_asleep = false;
      gather(s);
    }
    if (s->is_closed || s->waiting.empty()) {
      s->is_over = true;
      changed.notify_all();
      return std::nullopt;
    }
    std::optional<event> out{std::move(s->waiting.front())};
    s->waiting.pop_front();
    if (s->waiting.empty()) s->is_urgent = false;
    if (s->waiting.size() > most / 2) return out;
    s->is_behind = false;
    if (s->dropped_unreported > 0)
      s->waiting.push_back({events::dropped{.events = std::exchange(s->dropped_unreported, 0)}});
    return out;
  }
};

event_dispatcher::event_dispatcher(observer o, duration longest)
    : wants_all_{static_cast<bool>(o)},
      longest_{longest},
      shared_{std::make_shared<shared>(o ? std::move(o) : observer{to_clog})} {}

event_dispatcher::~event_dispatcher() { close(base::later(base::now(), longest_)); }

// If there is no memory or no thread, the event is dropped, or reported later.
void event_dispatcher::add(event e) noexcept try {
  if (!wants_all_ && !is_for_people(e)) return;
  bool is_to_wake = false;
  {
    const auto s = shared_->state.lock();
    if (s->is_closing || !shared::has_room(*s, e)) return;
    is_to_wake = shared::keep(*s, std::move(e));
    if (!s->thread.joinable()) s->thread = std::thread{[with = shared_] { run(with); }};
  }
  if (is_to_wake) shared_->changed.notify_all();
} catch (const std::exception&) {
}

std::uint64_t event_dispatcher::dropped() const noexcept { return shared_->state.lock()->dropped; }

// A child that the observer forks has no thread that could unlock what others had locked.
void event_dispatcher::run(const std::shared_ptr<shared>& with) noexcept {
  while (const auto e = with->next()) {
    try {
      with->notify(*e);
    } catch (...) {  // NOLINT(bugprone-empty-catch): the observer's failures are not ours
    }
    if (with->generation != base::process_generation()) return;
  }
}

void event_dispatcher::close(base::instant deadline) noexcept {
  auto s = shared_->state.lock();
  s->is_closing = true;
  shared_->changed.notify_all();
  std::thread thread = std::move(s->thread);
  if (!thread.joinable()) return;
  const bool has_ended = thread.get_id() != std::this_thread::get_id() &&
                         base::wait_until(shared_->changed, s.lock(), deadline, {}, [&] { return s->is_over; });
  s->is_closed = true;
  s->waiting.clear();
  s.lock().unlock();
  has_ended ? thread.join() : thread.detach();
}

}  // namespace rowlock::inline v1::engine
