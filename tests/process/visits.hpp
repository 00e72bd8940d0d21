#pragma once

#include <rowlock/fencing_token.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include <rowlock/loss_reason.hpp>

#include "process/roles.hpp"

namespace rowlock::test {

/// Counts in a file of the folder, and writes the token down in another, in the order of the visits. Nothing but a lock
/// keeps two from doing so at once.
void visit(const std::filesystem::path& folder, fencing_token token);

/// For as long somebody relied on a lock, by the clock that all processes share.
struct reliance {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Relies on it for so many microseconds, or until it is lost: at a moment if it was not lost when that was over.
/// Nothing where it was paused since the grant, and has lost it.
template <class Held>
std::optional<reliance> rely_on(const Held& held, std::int64_t longest) {
  const auto begin = shared_clock();
  if (held.why_lost() != loss_reason::none) return std::nullopt;
  reliance out{.begin = begin, .end = begin};
  for (auto now = begin; held.why_lost() == loss_reason::none; now = shared_clock()) {
    out.end = now;
    if (now >= begin + longest) break;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return out;
}

/// What was written down in either: folder / "counter", folder / "tokens".
std::vector<std::int64_t> numbers_of(const std::filesystem::path& file);

/// Whether each is greater than the one before.
bool grow(const std::vector<std::int64_t>& numbers);

}  // namespace rowlock::test
