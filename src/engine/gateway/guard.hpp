#pragma once

#include <rowlock/guard_status.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/boot_clock.hpp"
#include "engine/events/telemetry.hpp"
#include "sql/sheet.hpp"
#include "store/access.hpp"
#include "store/guard.hpp"

namespace rowlock::inline v1::engine {

/// A client's knowledge of the guard over failovers (docs/protocol.md#the-guard): whether it is on, and until when a
/// quarantine lasts. Any thread may use it.
///
///   unknown --look--> off | on | quarantine --its end--> on
///
/// The statements decide: while the guard is on, each that grants tests it. This knowledge saves those that would
/// be refused, and says for how long. While it is on, each new session looks, since a failover ends the sessions of the
/// old primary, and again every 10 s, so that clients learn that it was switched on. A reply that was answered later
/// than 20 s after the last look is not relied on before another one: a process may have been stopped meanwhile.
class failover_guard {
 public:
  using make_sheet = std::function<sheets::sheet(bool may_relax)>;

  /// `guarded` makes the statements that test it, once they are needed; `may_relax`: for a relaxed guard.
  failover_guard(const sheets::sheet& plain, make_sheet guarded, telemetry& to)
      : plain_{plain}, make_guarded_{std::move(guarded)}, events_{to} {}
  failover_guard(const failover_guard&) = delete;
  failover_guard& operator=(const failover_guard&) = delete;

  /// For a session whose schema fits: looks if it must, and answers how statements are sent there. If the server
  /// continues another history of commits, a quarantine begins. Throws if it is behind what this client has seen: it is
  /// a former primary.
  store::access look(const store::access& on);
  /// After the last answer. Throws, with an unknown outcome, if the guard was switched on meanwhile.
  void require_fresh(const store::access& on, const store::access& plain);
  /// An attempt had no answer, as in a quarantine that began behind a pooler: the next call looks again.
  void doubt() noexcept;

  bool is_fresh() const noexcept { return !plain_.can().guards_failovers || base::now() < at(fresh_until_); }
  bool is_on() const noexcept { return longest_lease_ != off; }
  /// As far as the client has seen; for the client's own locks.
  duration longest_lease() const noexcept { return duration{longest_lease_.load()}; }
  /// Absent: no quarantine is on, as far as is known.
  std::optional<duration> quarantine_left() const noexcept;
  /// Throws invalid_option if the lease is longer than the quarantine. `what`: "a lease".
  void require_short(duration lease, const char* what) const;
  /// The greatest term that was seen. It grows at each failover, and when an operator changes the guard.
  std::int64_t term() const noexcept { return term_; }

  // For operators; on a session whose schema fits.
  guard_status status(const store::access& on);
  guard_status set(const store::access& on, std::optional<duration> quarantine, const guard_options& options);
  guard_status end_quarantine(const store::access& on);

 private:
  using atomic_time = std::atomic<base::instant::rep>;
  static base::instant at(const atomic_time& t) noexcept { return base::instant{duration{t.load()}}; }
  static constexpr duration::rep off = duration::max().count();

  std::optional<store::guard_row> read(const store::access& on);
  std::optional<store::guard_row> follow(const store::access& on);
  guard_status change(const store::access& on, const std::function<store::guard_row(store::guard_row)>& to,
                      bool left_as_leases_demand);
  void publish(const std::optional<store::guard_row>& row, base::instant asked);
  const sheets::sheet& guarded();

  const sheets::sheet& plain_;
  const make_sheet make_guarded_;
  telemetry& events_;
  struct form {
    std::once_flag is_made;
    std::optional<sheets::sheet> sheet;
  };
  form strict_;
  form relaxed_;
  std::atomic<bool> is_relaxed_{false};
  atomic_time fresh_until_{0};
  atomic_time read_at_{0};
  atomic_time grants_from_{0};
  std::atomic<duration::rep> longest_lease_{off};
  std::atomic<std::int64_t> term_{0};
};

}  // namespace rowlock::inline v1::engine
