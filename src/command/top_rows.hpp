#pragma once

#include <rowlock/lock_info.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/overview.hpp"

namespace rowlock::command {

/// By what `rowlock top` sorts.
enum class top_order : std::uint8_t { name, age, lease, queue, rate };

struct top_order_name {
  top_order order;
  std::string_view name;
};
inline constexpr std::array<top_order_name, 5> top_orders{{{top_order::name, "name"},
                                                           {top_order::age, "age"},
                                                           {top_order::lease, "lease"},
                                                           {top_order::queue, "queue"},
                                                           {top_order::rate, "rate"}}};

/// How often a name changes hands, as far as looks tell: a look sees at most one grant of a name.
struct grant_rate {
  double per_second = 0;
  bool is_at_least = false;  ///< every look saw another holder, so there may have been more

  friend bool operator==(const grant_rate&, const grant_rate&) = default;
};

/// A name that is held or waited for.
struct top_row {
  std::string name{};
  std::optional<lock_info> holder{};
  std::size_t waiting = 0;
  std::optional<duration> longest_wait{};
  std::optional<grant_rate> grants{};  ///< absent: not known
  std::vector<std::size_t> lengths{};  ///< of its queue, at the last looks: the latest is the last
};

/// By name: as its bytes sort. By age, queue and rate: the largest first. By lease: what ends first. What is not known
/// comes last. Where two are alike, they are in the order of their names.
void sort_rows(std::vector<top_row>& rows, top_order by, bool is_reversed);

/// Whether the name has the text anywhere in it; where that begins with "^", at its beginning. Both as they are
/// printed.
bool matches(const top_row& row, std::string_view filter);

/// What several looks at the database tell together.
class top_history {
 public:
  using clock = std::chrono::steady_clock;
  /// So many looks back, rates and lengths of queues are remembered.
  static constexpr std::size_t depth = 10;

  void add(const overview& seen, clock::time_point when);
  /// At the last look, in the order of the names.
  const std::vector<top_row>& rows() const noexcept { return rows_; }
  /// Of all names together; absent: there was one look only.
  std::optional<grant_rate> grants() const;

 private:
  /// Of a name, for as long as a look of those that are remembered has seen it.
  struct past {
    std::optional<fencing_token> token{};  ///< the latest
    std::deque<std::uint64_t> grants{};    ///< the looks that have seen a new token
    std::deque<std::size_t> lengths{};     ///< of its queue
    std::uint64_t last_look = 0;           ///< that has seen the name
  };

  void collect(const overview& seen);
  void note(const top_row& row);
  void forget_the_oldest();
  std::optional<grant_rate> rate_of(std::size_t grants) const;

  std::vector<top_row> rows_{};
  std::map<std::string, past, std::less<>> past_{};
  std::deque<clock::time_point> looks_{};  ///< the last `depth` + 1
  std::uint64_t look_ = 0;                 ///< the number of the last one
};

/// "3.5", ">1.0" or "-".
std::string text_of(const std::optional<grant_rate>& rate);

}  // namespace rowlock::command
