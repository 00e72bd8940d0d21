#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace rowlock::inline v1::base {

/// Remembers names in little memory: one bit stands for all names of one hash. Good for guesses only. Thread-safe.
class recent_names {
 public:
  void add(std::string_view name) noexcept { word(name).fetch_or(bit(name), std::memory_order_relaxed); }
  void remove(std::string_view name) noexcept {
    if (may_contain(name)) word(name).fetch_and(~bit(name), std::memory_order_relaxed);
  }
  bool may_contain(std::string_view name) const noexcept {
    return (words_[place(name) / 64].load(std::memory_order_relaxed) & bit(name)) != 0;
  }

 private:
  static constexpr std::size_t bits = 4096;

  static std::size_t place(std::string_view name) noexcept { return std::hash<std::string_view>{}(name) % bits; }
  static std::uint64_t bit(std::string_view name) noexcept { return std::uint64_t{1} << (place(name) % 64); }
  std::atomic<std::uint64_t>& word(std::string_view name) noexcept { return words_[place(name) / 64]; }

  std::array<std::atomic<std::uint64_t>, bits / 64> words_{};
};

/// Names whose row was vacant when this client saw it last, and its version then if the strategy needs it: the last few
/// names, by a hash. A hint: a wrong one costs a round trip.
class vacant_names {
 public:
  bool may_have(std::string_view name, std::int64_t version = 0) const noexcept {
    const auto hash = hash_of(name);
    return places_[hash % places].load(std::memory_order_relaxed) == with(hash, version);
  }
  void remember(std::string_view name, std::int64_t version = 0) noexcept {
    const auto hash = hash_of(name);
    places_[hash % places].store(with(hash, version), std::memory_order_relaxed);
  }
  void forget(std::string_view name) noexcept {
    auto hash = hash_of(name);
    places_[hash % places].compare_exchange_strong(hash, 0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t places = 1024;
  static std::uint64_t with(std::uint64_t hash, std::int64_t version) noexcept {
    return hash ^ (static_cast<std::uint64_t>(version) >> 1U);  // never 0 either: versions are not negative
  }
  static std::uint64_t hash_of(std::string_view name) noexcept {
    return std::hash<std::string_view>{}(name) | (std::uint64_t{1} << 63U);  // never 0, which is no name
  }

  std::array<std::atomic<std::uint64_t>, places> places_{};
};

/// How long others hold the names for which this client waits: whether it pays to try again before it takes a ticket.
/// After each time in a row that it did not, twice as many waits pass until the next trial. By a hash, as above.
class brief_names {
 public:
  bool is_worth_trying(std::string_view name) noexcept {
    return place(name).load(std::memory_order_relaxed).waits_left == 0;
  }
  void waited(std::string_view name) noexcept {
    auto& of = place(name);
    const auto now = of.load(std::memory_order_relaxed);
    if (now.waits_left > 0)
      of.store({.failures = now.failures, .waits_left = static_cast<std::uint8_t>(now.waits_left - 1)},
               std::memory_order_relaxed);
  }
  void tried(std::string_view name, bool was_brief) noexcept {
    auto& of = place(name);
    const int failures = was_brief ? 0 : std::min(of.load(std::memory_order_relaxed).failures + 1, most_failures);
    of.store(
        {.failures = static_cast<std::uint8_t>(failures), .waits_left = static_cast<std::uint8_t>((1 << failures) - 1)},
        std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t places = 1024;
  static constexpr int most_failures = 7;
  struct alignas(2) record {  // as a whole, without libatomic
    std::uint8_t failures;
    std::uint8_t waits_left;
  };
  std::atomic<record>& place(std::string_view name) noexcept {
    return places_[std::hash<std::string_view>{}(name) % places];
  }

  std::array<std::atomic<record>, places> places_{};
};

}  // namespace rowlock::inline v1::base
