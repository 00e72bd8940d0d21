#include "history/checker.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <utility>

namespace rowlock::test {

namespace {

std::string text_of(const belief& b) {
  return b.name + " with token " + std::to_string(b.token) + (b.is_alone() ? " alone" : "") + " from " +
         std::to_string(b.begin) + " to " + std::to_string(b.end);
}

constexpr std::size_t shown_before_and_after = 12;
constexpr std::size_t most_with_records = 5;
constexpr int most_writes = 4;  // of one token

/// Where to look for what was wrong. Without a name: nowhere.
struct complaint {
  std::string text;
  std::string name{};
  std::int64_t token = 0;
  std::optional<std::int64_t> overlap{};  ///< for how long two believed at once
};

/// What was written by a token, with its place among all that was written so.
std::string writes_of(const belief& b, std::string_view how, const std::vector<write>& all) {
  std::string out;
  int count = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].name == b.name && all[i].token == b.token && ++count <= most_writes)
      out.append("; ")
          .append(how)
          .append(" ")
          .append(std::to_string(all[i].number))
          .append(" at ")
          .append(std::to_string(i));
  return count <= most_writes ? out : out + " and " + std::to_string(count - most_writes) + " more";
}

/// The records of a name before and after that token, in the order in which they began, each with what was written.
std::string records_around(const complaint& what, const history& all) {
  std::vector<belief> own;
  std::ranges::copy_if(all.beliefs, std::back_inserter(own), [&](const belief& b) { return b.name == what.name; });
  std::ranges::stable_sort(own, {}, &belief::begin);
  const auto at = static_cast<std::size_t>(
      std::ranges::find_if(own, [&](const belief& b) { return b.token >= what.token; }) - own.begin());
  const auto from = at - std::min(at, shown_before_and_after);
  const auto to = std::min(own.size(), at + shown_before_and_after + 1);
  std::string out = "\nrecords " + std::to_string(from) + " to " + std::to_string(to) + " of " +
                    std::to_string(own.size()) + " of this name:";
  for (auto i = from; i < to; ++i)
    out += (own[i].token == what.token ? "\n> " : "\n  ") + text_of(own[i]) + " by " + own[i].by +
           writes_of(own[i], "confirmed", all.confirmed) + writes_of(own[i], "fenced", all.fenced) +
           writes_of(own[i], "unfenced", all.unfenced);
  return out;
}

class judge_of_name {
 public:
  judge_of_name(std::vector<belief> all, const name_rules& rules, std::vector<complaint>& to)
      : all_{std::move(all)}, rules_{rules}, violations_{to} {
    std::ranges::sort(all_, {}, &belief::begin);
  }

  void tokens_are_unique() {
    std::set<std::int64_t> seen;
    for (const auto& each : all_)
      if (!seen.insert(each.token).second) complain("a token was given twice: " + text_of(each), each);
  }

  // Against all that began before: whose belief lasts longest, and who has the greatest token of those that are over.
  void beliefs_and_tokens_agree() {
    const belief* longest = nullptr;
    const belief* longest_alone = nullptr;
    for (const auto& each : all_) {
      if (overlaps(longest_alone, each) || (each.is_alone() && overlaps(longest, each))) {
        const auto& other = overlaps(longest_alone, each) ? *longest_alone : *longest;
        complain("two believed at once: " + text_of(other) + ", and " + text_of(each), each,
                 std::min(other.end, each.end) - each.begin);
      }
      count_permits(each);
      compare_tokens(each);
      if (longest == nullptr || longest->end < each.end) longest = &each;
      if (each.is_alone() && (longest_alone == nullptr || longest_alone->end < each.end)) longest_alone = &each;
    }
  }

 private:
  static bool overlaps(const belief* before, const belief& later) {
    return before != nullptr && later.begin < before->end;
  }

  void count_permits(const belief& each) {
    while (!running_.empty() && running_.top().first <= each.begin) {
      given_ -= running_.top().second;
      running_.pop();
    }
    given_ += each.permits;
    running_.emplace(each.end, each.permits);
    if (rules_.permits > 0 && given_ > rules_.permits)
      complain(std::to_string(given_) + " permits were given out: " + text_of(each), each);
  }

  // Of sharers, whoever came first may write its line last: only what was over is compared, where one is alone.
  void compare_tokens(const belief& each) {
    while (!ending_.empty() && ending_.top().first <= each.begin) {
      const auto& over = *ending_.top().second;
      greatest_ = std::max(greatest_, over.token);
      if (over.is_alone()) greatest_alone_ = std::max(greatest_alone_, over.token);
      ending_.pop();
    }
    ending_.emplace(each.end, &each);
    if (each.token < (each.is_alone() ? greatest_ : greatest_alone_))
      complain("tokens do not grow: " + text_of(each), each);
  }

  void complain(std::string text, const belief& of, std::optional<std::int64_t> overlap = {}) {
    violations_.push_back({.text = std::move(text), .name = of.name, .token = of.token, .overlap = overlap});
  }

  std::vector<belief> all_;
  const name_rules rules_;
  std::vector<complaint>& violations_;
  using end_and_permits = std::pair<std::int64_t, std::int64_t>;
  using end_and_belief = std::pair<std::int64_t, const belief*>;
  std::priority_queue<end_and_permits, std::vector<end_and_permits>, std::greater<>> running_;
  std::priority_queue<end_and_belief, std::vector<end_and_belief>, std::greater<>> ending_;
  std::int64_t given_ = 0;
  std::int64_t greatest_ = 0;
  std::int64_t greatest_alone_ = 0;
};

void judge_fenced(const history& all, std::vector<complaint>& violations) {
  std::map<std::string, std::int64_t> last;
  std::set<std::int64_t> present;
  for (const auto& each : all.fenced) {
    auto& before = last[each.name];
    const auto text = each.name + " by token " + std::to_string(each.token) + ", number " + std::to_string(each.number);
    if (each.token < before) violations.push_back({"a fenced write came late: " + text, each.name, each.token});
    before = std::max(before, each.token);
    if (!present.insert(each.number).second)
      violations.push_back({"a fenced write is there twice: " + text, each.name, each.token});
  }
  for (const auto& each : all.confirmed)
    if (!present.contains(each.number))
      violations.push_back(
          {"a fenced write was lost: " + each.name + ", number " + std::to_string(each.number), each.name, each.token});
}

}  // namespace

verdict_of_history judge(const history& all, const std::function<name_rules(std::string_view name)>& rules_of,
                         std::int64_t late) {
  verdict_of_history out{.beliefs = all.beliefs.size()};
  std::vector<complaint> found;
  std::map<std::string, std::vector<belief>> by_name;
  for (const auto& each : all.beliefs) by_name[each.name].push_back(each);
  for (auto& [name, beliefs] : by_name) {
    const auto rules = rules_of(name);
    judge_of_name one{std::move(beliefs), rules, found};
    if (!rules.rolls_back && rules.has_tokens) one.tokens_are_unique();
    if (rules.excludes) one.beliefs_and_tokens_agree();
  }
  judge_fenced(all, found);
  for (const auto& each : all.waits)
    if (each.took > each.limit + late)
      found.push_back({"a call waited for " + std::to_string(each.took) + " us, and was to wait for " +
                       std::to_string(each.limit)});
  for (auto& each : found) {
    if (each.overlap) {
      ++out.double_holders;
      out.longest_overlap = std::max(out.longest_overlap, *each.overlap);
    }
    const bool has_records = !each.name.empty() && out.violations.size() < most_with_records;
    out.violations.push_back(has_records ? each.text + records_around(each, all) : std::move(each.text));
  }
  std::map<std::string, std::int64_t> last;
  for (const auto& each : all.unfenced) {
    auto& before = last[each.name];
    if (each.token < before) ++out.unfenced_overlaps;
    before = std::max(before, each.token);
  }
  return out;
}

}  // namespace rowlock::test
