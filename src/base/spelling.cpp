#include "base/spelling.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace rowlock::inline v1::base {

namespace {

constexpr std::size_t longest_word = 40;

// How many bytes have to be inserted, deleted or replaced, or exchanged with their neighbour.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before(to.size() + 1);
  std::vector<std::size_t> above(to.size() + 1);
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(above.begin(), above.end(), 0U);
  for (std::size_t i = 1; i <= from.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (from[i - 1] == to[j - 1] ? 0U : 1U)});
      const bool is_exchange = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (is_exchange) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[to.size()];
}

// One in three bytes may be wrong, and not all of a short word.
std::size_t most_wrong(std::string_view word) { return std::min<std::size_t>(word.size() / 3, 3); }

std::string lower_case(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '_' ? '-' : c;
  });
  return out;
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() > longest_word) return {};
  std::string_view nearest;
  std::size_t least = longest_word;
  for (const auto each : known) {
    const auto apart = distance(lower_case(word), lower_case(each));
    if (apart > most_wrong(each) || apart >= least) continue;
    nearest = each;
    least = apart;
  }
  return nearest.empty() ? std::string{} : "; did you mean " + std::string{nearest} + "?";
}

}  // namespace rowlock::inline v1::base
