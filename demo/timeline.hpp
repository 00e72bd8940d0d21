#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recorder.hpp"

namespace flash_sale {

/// What the buyers of one run did: everything from `shown_from` on. Times are those of `purchase`.
struct timeline {
  std::vector<std::vector<purchase>> lanes;  ///< of each thread, those of the first process first
  std::int64_t began = 0;
  std::int64_t ended = 0;
  std::int64_t shown_from = 0;      ///< when the run began, if all of it was kept
  std::int64_t sold_out = 0;        ///< when the last unit was sold; 0: not in what is shown
  std::int64_t first_oversold = 0;  ///< the number of that order's row; 0: nothing was oversold

  bool is_oversold(const purchase& what) const noexcept { return first_oversold != 0 && what.order >= first_oversold; }
  bool is_whole() const noexcept { return shown_from == began; }
  std::size_t orders() const noexcept;
  std::size_t oversold() const noexcept;
};

/// How many purchases each of so many threads remembers, so that memory and the page stay small.
std::size_t purchases_remembered(std::size_t threads) noexcept;

/// `lanes`: the latest purchases of each thread, at most `remembered` of them. What a thread has forgotten is left out
/// of all lanes, and so is the oldest where there is too much for the page.
timeline make_timeline(std::vector<std::vector<purchase>> lanes, std::size_t remembered, std::int64_t began,
                       std::int64_t first_oversold);

}  // namespace flash_sale
