#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/alarm.hpp"
#include "base/boot_clock.hpp"
#include "base/guarded.hpp"
#include "base/time.hpp"
#include "core/lease.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::engine {

/// Takes the elements for which `wanted` is true out of a vector.
template <class T, class Predicate>
std::vector<T> extract_if(std::vector<T>& from, Predicate wanted) {
  const auto found = std::stable_partition(from.begin(), from.end(), [&](const T& e) { return !wanted(e); });
  std::vector<T> out{std::make_move_iterator(found), std::make_move_iterator(from.end())};
  from.erase(found, from.end());
  return out;
}

/// Background work that is repeated until it has succeeded or its time is over. An entry has `next` (when it is due),
/// `until` (when its time is over) and `attempts`. Thread-safe.
template <class Entry>
class retry_list {
 public:
  void add(Entry e) { entries_.lock()->push_back(std::move(e)); }
  void add_all(std::vector<Entry> some) {
    const auto entries = entries_.lock();
    for (Entry& e : some) entries->push_back(std::move(e));
  }
  template <class Predicate>
  std::vector<Entry> take_if(Predicate wanted) {
    return extract_if(*entries_.lock(), wanted);
  }
  std::vector<Entry> take_due(base::instant now) {
    return take_if([now](const Entry& e) { return e.next <= now; });
  }
  /// After a failure: once more later, unless its time is over.
  void put_back(std::vector<Entry> failed, base::instant now) {
    const auto entries = entries_.lock();
    for (Entry& e : failed) {
      e.next = base::later(now, core::undo_pause(e.attempts++));
      if (e.next < e.until) entries->push_back(std::move(e));
    }
  }
  template <class Predicate>
  bool has(Predicate wanted) {
    const auto entries = entries_.lock();
    return std::any_of(entries->begin(), entries->end(), wanted);
  }
  /// `look(entry)` of the first entry for which `wanted` is true.
  template <class Predicate, class Look>
  auto find(Predicate wanted, Look look) -> std::optional<decltype(look(std::declval<const Entry&>()))> {
    const auto entries = entries_.lock();
    const auto found = std::find_if(entries->begin(), entries->end(), wanted);
    return found == entries->end() ? std::nullopt : std::optional{look(*found)};
  }
  base::instant next_due() {
    const auto entries = entries_.lock();
    base::instant earliest = base::instant::max();
    for (const Entry& e : *entries) earliest = std::min(earliest, e.next);
    return earliest;
  }

 private:
  base::guarded<std::vector<Entry>> entries_;
};

/// A client's maintenance thread: it runs those of its tasks that are due, in the order in which they were added. No
/// failure there ends it.
class maintenance {
 public:
  class task {
   public:
    task() = default;
    task(const task&) = delete;
    task& operator=(const task&) = delete;
    virtual ~task() = default;
    virtual base::instant next_due() = 0;
    /// Does the due work. Ends soon after the limits do.
    virtual void run(const driver::limits& until) noexcept = 0;
  };

  explicit maintenance(duration call_timeout) : call_timeout_{call_timeout} {}
  maintenance(const maintenance&) = delete;
  maintenance& operator=(const maintenance&) = delete;
  ~maintenance() { stop(); }

  /// Before start(). The task must live until stop().
  void add(task& one) { tasks_.push_back(&one); }
  void start() {
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
  }
  /// By any thread: something is due at `t`.
  void wake_at(base::instant t) noexcept { alarm_.arm(t); }
  void stop() noexcept {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    alarm_.arm(base::instant::min());
    thread_.join();
  }

 private:
  void run(const std::stop_token& stop) {
    for (;;) {
      alarm_.disarm();
      if (stop.stop_requested()) return;
      for (task* const each : tasks_)
        if (each->next_due() <= base::now())
          each->run({.deadline = base::later(base::now(), call_timeout_), .stop = stop});
      base::instant next = base::instant::max();
      for (task* const each : tasks_) next = std::min(next, each->next_due());
      alarm_.arm(next);
      alarm_.wait();
    }
  }

  const duration call_timeout_;
  std::vector<task*> tasks_;
  base::alarm alarm_;
  std::jthread thread_;
};

}  // namespace rowlock::inline v1::engine
