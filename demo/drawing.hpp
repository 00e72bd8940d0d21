#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "sale.hpp"
#include "timeline.hpp"

namespace flash_sale {

/// A stretch of time, in microseconds since the begin of a run.
struct stretch {
  std::int64_t from = 0;
  std::int64_t to = 0;

  std::int64_t length() const noexcept { return to - from; }
};

/// One run, and which part of it is visible at first.
struct drawing {
  const timeline& of;
  const sale& what;
  std::int64_t sold = 0;  ///< in the whole run
  bool has_lock = true;
  stretch visible;
  std::string label;  ///< said in place of the picture
};

/// Lanes with bars and lines, as SVG. Its unit is a microsecond wide and a pixel high; what is not visible at first is
/// there, too.
std::string draw_lanes(const drawing& run);

/// How high that is, and the names of the groups of lanes, with where they are.
std::string draw_lane_names(const drawing& run);

/// How many orders there were at any time of the run, as SVG. `most_sold` is at the upper edge.
std::string draw_orders(const drawing& run, std::int64_t most_sold);

/// Where its line of the stock is: 0 at the lower edge, 1 at the upper one.
double place_of_stock(const drawing& run, std::int64_t most_sold);

}  // namespace flash_sale
