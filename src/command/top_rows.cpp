#include "command/top_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace rowlock::command {

namespace {

/// What is not there comes last, whatever the order.
template <class Value>
int compared(const std::optional<Value>& a, const std::optional<Value>& b) {
  if (!a || !b) return static_cast<int>(b.has_value()) - static_cast<int>(a.has_value());
  return *a < *b ? -1 : static_cast<int>(*b < *a);
}

/// As `compared`, the largest first.
template <class Value>
int compared_down(const std::optional<Value>& a, const std::optional<Value>& b) {
  return a && b ? compared(b, a) : compared(a, b);
}

std::optional<duration> age_of(const top_row& r) { return r.holder ? r.holder->held_for : std::nullopt; }
std::optional<duration> lease_of(const top_row& r) { return r.holder ? r.holder->expires_in : std::nullopt; }
std::optional<double> rate_of(const top_row& r) {
  return r.grants ? std::optional{r.grants->per_second} : std::nullopt;
}

int compared(const top_row& a, const top_row& b, top_order by) {
  switch (by) {
    case top_order::name:
      return 0;
    case top_order::age:
      return compared_down(age_of(a), age_of(b));
    case top_order::lease:
      return compared(lease_of(a), lease_of(b));
    case top_order::queue:
      return compared_down(std::optional{a.waiting}, std::optional{b.waiting});
    case top_order::rate:
      return compared_down(rate_of(a), rate_of(b));
  }
  return 0;
}

}  // namespace

void sort_rows(std::vector<top_row>& rows, top_order by, bool is_reversed) {
  const auto comes_first = [by](const top_row& a, const top_row& b) {
    const int order = compared(a, b, by);
    return order != 0 ? order < 0 : a.name < b.name;
  };
  std::sort(rows.begin(), rows.end(), comes_first);
  if (is_reversed) std::reverse(rows.begin(), rows.end());
}

bool matches(const top_row& row, std::string_view filter) {
  const auto name = base::printable(row.name);
  if (filter.starts_with('^')) return name.starts_with(filter.substr(1));
  return name.find(filter) != std::string::npos;
}

void top_history::add(const overview& seen, clock::time_point when) {
  ++look_;
  looks_.push_back(when);
  if (looks_.size() > depth + 1) looks_.pop_front();
  collect(seen);
  for (const auto& row : rows_) note(row);
  forget_the_oldest();
  for (auto& row : rows_) {
    const past& before = past_.find(row.name)->second;
    row.lengths.assign(before.lengths.begin(), before.lengths.end());
    if (before.token) row.grants = rate_of(before.grants.size());
  }
}

void top_history::collect(const overview& seen) {
  std::map<std::string, top_row, std::less<>> by_name;
  const auto row_of = [&](const lock_name& name) -> top_row& {
    auto& row = by_name[std::string{name.view()}];
    row.name = name.view();
    return row;
  };
  for (const auto& lock : seen.held) row_of(lock.name).holder = lock;
  for (const auto& waiter : seen.queue) {
    auto& row = row_of(waiter.name);
    ++row.waiting;
    row.longest_wait = std::max(row.longest_wait.value_or(waiter.age), waiter.age);
  }
  rows_.clear();
  for (auto& [name, row] : by_name) rows_.push_back(std::move(row));
}

// A name that no look has seen so far was granted since the last one. Nothing is known before the first, nor of a
// transaction that has not committed its token.
void top_history::note(const top_row& row) {
  auto& of = past_[row.name];
  if (of.last_look != 0) of.lengths.insert(of.lengths.end(), look_ - of.last_look - 1, 0);
  of.lengths.push_back(row.waiting);
  of.last_look = look_;
  if (!row.holder || row.holder->token.value() <= 0) return;
  if (look_ > 1 && of.token != row.holder->token) of.grants.push_back(look_);
  of.token = row.holder->token;
}

void top_history::forget_the_oldest() {
  std::erase_if(past_, [this](const auto& each) { return each.second.last_look + depth < look_; });
  for (auto& [name, of] : past_) {
    while (!of.grants.empty() && of.grants.front() + depth <= look_) of.grants.pop_front();
    while (of.lengths.size() > depth) of.lengths.pop_front();
  }
}

std::optional<grant_rate> top_history::rate_of(std::size_t grants) const {
  if (looks_.size() < 2) return std::nullopt;
  const std::chrono::duration<double> time = looks_.back() - looks_.front();
  if (time.count() <= 0) return std::nullopt;
  return grant_rate{.per_second = static_cast<double>(grants) / time.count(),
                    .is_at_least = grants > 0 && grants + 1 >= looks_.size()};
}

std::optional<grant_rate> top_history::grants() const {
  std::size_t all = 0;
  bool is_at_least = false;
  for (const auto& [name, of] : past_) {
    all += of.grants.size();
    const auto rate = rate_of(of.grants.size());
    is_at_least = is_at_least || (rate && rate->is_at_least);
  }
  auto out = rate_of(all);
  if (out) out->is_at_least = is_at_least;
  return out;
}

std::string text_of(const std::optional<grant_rate>& rate) {
  if (!rate) return "-";
  return fmt::format("{}{:.1f}", rate->is_at_least ? ">" : "", rate->per_second);
}

}  // namespace rowlock::command
