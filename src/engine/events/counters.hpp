#pragma once

#include <rowlock/error.hpp>
#include <rowlock/loss_reason.hpp>
#include <rowlock/statistics.hpp>
#include <rowlock/strategy.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/histogram.hpp"
#include "base/time.hpp"

namespace rowlock::inline v1::engine {

/// What a client has done. Any thread may count, and none waits for another.
class counters {
 public:
  using number = std::atomic<std::uint64_t>;
  enum class outcome : std::uint8_t { acquired, busy, cancelled, failed };

  void ended(strategy by, outcome how, duration waited) noexcept;
  void released(strategy by, duration held) noexcept;
  void lost(strategy by, loss_reason why, duration held) noexcept;
  void failed(errc code) noexcept;
  static void count(number& what, std::uint64_t times = 1) noexcept {
    what.fetch_add(times, std::memory_order_relaxed);
  }

  number handovers{0};
  number renewals{0};
  number renewal_failures{0};
  number release_failures{0};
  number reconnects{0};
  number polling_fallbacks{0};
  number sweeps{0};
  number swept_rows{0};
  number swept_tickets{0};
  std::atomic<std::size_t> waiting{0};  // calls

  /// All of that; nothing else.
  client_statistics read() const;

 private:
  static constexpr std::size_t kinds = static_cast<std::size_t>(strategy::version_cas) + 1;
  static constexpr std::size_t reasons = static_cast<std::size_t>(loss_reason::forked) + 1;
  static constexpr std::size_t codes = static_cast<std::size_t>(errc::database_error) + 1;
  struct of_strategy {
    std::array<number, 4> outcomes{};
    number released{0};
    number lost{0};
    base::growing_histogram waits;
    base::growing_histogram holds;
  };
  of_strategy& at(strategy by) noexcept { return strategies_.at(static_cast<std::size_t>(by)); }

  std::array<of_strategy, kinds> strategies_;
  std::array<number, reasons> losses_{};
  std::array<number, codes> errors_{};
};

/// Counts a call that asks for a lock, and how long it takes. It has failed unless ends() is called.
class counted_call {
 public:
  counted_call(counters& in, strategy by) noexcept;
  counted_call(const counted_call&) = delete;
  counted_call& operator=(const counted_call&) = delete;
  ~counted_call();

  void ends(counters::outcome how) noexcept { how_ = how; }
  /// A holder gets once more what it has: that is not counted.
  void ends_at_once() noexcept { is_counted_ = false; }
  bool is_counted() const noexcept { return is_counted_; }
  base::instant began() const noexcept { return began_; }
  duration elapsed() const noexcept;

 private:
  counters& in_;
  const strategy by_;
  const base::instant began_;
  counters::outcome how_ = counters::outcome::failed;
  bool is_counted_ = true;
};

}  // namespace rowlock::inline v1::engine
