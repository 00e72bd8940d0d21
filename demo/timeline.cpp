#include "timeline.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace flash_sale {
namespace {

// 6 runs of so many, at most 46 bytes each, stay below 2 MB.
constexpr std::size_t most_shown = 7000;
constexpr std::size_t most_remembered = 48'000;  ///< by all threads of a run
constexpr std::size_t least_remembered = 8;      ///< by one thread

template <class Predicate>
std::size_t count_purchases(const timeline& in, const Predicate& counts) noexcept {
  std::size_t found = 0;
  for (const auto& lane : in.lanes) found += static_cast<std::size_t>(std::count_if(lane.begin(), lane.end(), counts));
  return found;
}

/// From then on no thread has forgotten anything; 0: none has at all.
std::int64_t remembered_from(const timeline& in, std::size_t remembered) {
  std::int64_t from = 0;
  for (const auto& lane : in.lanes)
    if (lane.size() >= remembered) from = std::max(from, lane.front().released);
  return from;
}

/// From then on there is not too much for the page; 0: there never is.
std::int64_t fits_from(const timeline& in) {
  std::vector<std::int64_t> ends;
  for (const auto& lane : in.lanes)
    for (const auto& each : lane) ends.push_back(each.released);
  if (ends.size() <= most_shown) return 0;
  const auto oldest = ends.end() - static_cast<std::ptrdiff_t>(most_shown);
  std::nth_element(ends.begin(), oldest, ends.end());
  return *oldest;
}

void forget_before(timeline& in, std::int64_t from) {
  if (from == 0) return;
  in.shown_from = from;
  for (auto& lane : in.lanes) std::erase_if(lane, [&](const auto& each) { return each.released < from; });
}

/// The last order that is not beyond the stock.
std::int64_t time_of_last_unit(const timeline& in) {
  const purchase* last = nullptr;
  for (const auto& lane : in.lanes)
    for (const auto& each : lane)
      if (each.order != 0 && !in.is_oversold(each) && (last == nullptr || each.order > last->order)) last = &each;
  return last != nullptr ? last->ordered : 0;
}

std::int64_t time_of_end(const timeline& in) {
  std::int64_t end = in.began;
  for (const auto& lane : in.lanes)
    for (const auto& each : lane) end = std::max(end, each.released);
  return end;
}

}  // namespace

std::size_t timeline::orders() const noexcept {
  return count_purchases(*this, [](const auto& each) { return each.order != 0; });
}

std::size_t timeline::oversold() const noexcept {
  return count_purchases(*this, [&](const auto& each) { return is_oversold(each); });
}

std::size_t purchases_remembered(std::size_t threads) noexcept {
  return std::max(least_remembered, most_remembered / threads);
}

timeline make_timeline(std::vector<std::vector<purchase>> lanes, std::size_t remembered, std::int64_t began,
                       std::int64_t first_oversold) {
  timeline all{.lanes = std::move(lanes), .began = began, .shown_from = began, .first_oversold = first_oversold};
  forget_before(all, remembered_from(all, remembered));
  forget_before(all, fits_from(all));
  all.ended = time_of_end(all);
  all.sold_out = time_of_last_unit(all);
  return all;
}

}  // namespace flash_sale
