#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace rowlock::inline v1::base {

/// Remembers names, in little room: by a bit for all names of one hash. Good for guesses only. Thread-safe.
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

}  // namespace rowlock::inline v1::base
