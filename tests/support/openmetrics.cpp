#include "support/openmetrics.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace rowlock::test {

namespace {

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<std::string_view> without(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix) || name.size() == suffix.size()) return std::nullopt;
  return name.substr(0, name.size() - suffix.size());
}

class parser {
 public:
  explicit parser(std::string_view text) : left_{text} {}

  openmetrics parse() && {
    while (!is_over_) line();
    if (!left_.empty()) refuse("something stands behind # EOF");
    for (const auto& [name, of] : out_.families)
      if (of.type == "histogram") check_histograms(of);
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw std::runtime_error{"line " + std::to_string(number_) + ": " + why};
  }

  void line() {
    ++number_;
    const auto end = left_.find('\n');
    if (end == std::string_view::npos) refuse("the text does not end with # EOF and a line feed");
    rest_ = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    if (rest_ == "# EOF") {
      is_over_ = true;
    } else if (rest_.starts_with("#")) {
      metadata();
    } else {
      sample();
    }
  }

  void expect(std::string_view what) {
    if (!rest_.starts_with(what)) refuse("expected '" + std::string{what} + "'");
    rest_.remove_prefix(what.size());
  }
  std::string name(std::string_view also) {
    std::size_t length = 0;
    while (length < rest_.size() &&
           (is_letter(rest_[length]) || is_one_of(rest_[length], also) || (length > 0 && is_digit(rest_[length]))))
      ++length;
    if (length == 0) refuse("expected a name");
    std::string out{rest_.substr(0, length)};
    rest_.remove_prefix(length);
    return out;
  }

  // "\\", "\"" and "\n"; nothing else may be escaped.
  char escaped() {
    rest_.remove_prefix(1);
    if (rest_.empty() || !is_one_of(rest_[0], "\\\"n")) refuse("a stray backslash");
    return rest_[0] == 'n' ? '\n' : rest_[0];
  }

  void metadata() {
    expect("# ");
    const auto kind = name("");
    expect(" ");
    const auto of = name("_:");
    expect(" ");
    if (of != current_) begin(of);
    auto& family = out_.families[of];
    if (!family.samples.empty()) refuse("metadata of " + of + " stand behind its samples");
    if (!metadata_.insert(kind).second) refuse(kind + " of " + of + " stands there twice");
    if (kind == "TYPE") {
      family.type = rest_;
      if (!std::set<std::string>{"counter", "gauge", "histogram", "unknown"}.contains(family.type))
        refuse("the type " + family.type + " is none");
    } else if (kind == "UNIT") {
      family.unit = rest_;
      if (family.unit.empty() || !of.ends_with("_" + family.unit)) refuse(of + " does not end in its unit");
    } else if (kind == "HELP") {
      family.help.clear();
      for (; !rest_.empty(); rest_.remove_prefix(1)) family.help += rest_[0] == '\\' ? escaped() : rest_[0];
    } else {
      refuse("there is no metadata " + kind);
    }
  }

  void begin(const std::string& family) {
    if (out_.families.contains(family)) refuse(family + " is there twice, or in two parts");
    current_ = family;
    metadata_.clear();
    groups_.clear();
  }

  void sample() {
    openmetrics::sample s;
    s.name = name("_:");
    if (!rest_.empty() && rest_[0] == '{') s.labels = labels();
    expect(" ");
    s.value = number(rest_);
    auto& family = family_of(s);
    if (!seen_.insert({s.name, s.labels}).second) refuse(s.name + " is there twice with the same labels");
    keep_together(s);
    family.samples.push_back(std::move(s));
  }

  openmetrics::labels labels() {
    openmetrics::labels out;
    expect("{");
    while (!rest_.starts_with("}")) {
      if (!out.empty()) expect(",");
      const auto key = name("_");
      if (!out.emplace(key, quoted()).second) refuse("the label " + key + " is there twice");
    }
    expect("}");
    return out;
  }
  std::string quoted() {
    expect("=\"");
    std::string out;
    for (; !rest_.empty() && rest_[0] != '"'; rest_.remove_prefix(1)) out += rest_[0] == '\\' ? escaped() : rest_[0];
    expect("\"");
    return out;
  }

  double number(std::string_view text) const {
    if (text == "+Inf") return std::numeric_limits<double>::infinity();
    double out = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (failure != std::errc{} || end != text.data() + text.size() || !std::isfinite(out))
      refuse("'" + std::string{text} + "' is no number");
    return out;
  }

  openmetrics::family& family_of(const openmetrics::sample& s) {
    if (current_.empty()) refuse(s.name + " stands before any family");
    auto& family = out_.families[current_];
    if (family.type.empty()) refuse(current_ + " has no type");
    const auto is = [&](std::string_view suffix) { return without(s.name, suffix) == current_; };
    if (family.type == "counter") {
      if (!is("_total")) refuse("of the counter " + current_ + " there can be no sample " + s.name);
      if (s.value < 0) refuse("a counter below zero");
    } else if (family.type == "histogram") {
      if (!is("_bucket") && !is("_count") && !is("_sum"))
        refuse("of the histogram " + current_ + " there can be no sample " + s.name);
      if (is("_bucket") != s.labels.contains("le")) refuse("le is for buckets, and a bucket has it");
    } else if (s.name != current_) {
      refuse(s.name + " is not of " + current_);
    }
    return family;
  }

  // The samples of a histogram that have the same labels.
  void keep_together(const openmetrics::sample& s) {
    auto group = s.labels;
    group.erase("le");
    if (groups_.empty() || groups_.back() != group) {
      if (std::find(groups_.begin(), groups_.end(), group) != groups_.end())
        refuse("the samples of " + current_ + " with the same labels do not stand together");
      groups_.push_back(std::move(group));
    }
  }

  void check_histograms(const openmetrics::family& of) const {
    std::optional<openmetrics::sample> last;
    bool has_count = true;
    bool has_sum = true;
    for (const auto& s : of.samples) {
      if (s.name.ends_with("_bucket")) {
        const double bound = number(s.labels.at("le"));
        const bool is_new = !last || last->labels.at("le") == "+Inf";
        if (is_new && !(has_count && has_sum)) refuse("a histogram lacks _count or _sum");
        if (!is_new && bound <= number(last->labels.at("le"))) refuse("buckets are not in the order of their bounds");
        if (!is_new && s.value < last->value) refuse("buckets are not cumulative");
        has_count = has_sum = false;
        last = s;
        continue;
      }
      if (!last || last->labels.at("le") != "+Inf") refuse("a histogram has no bucket +Inf");
      if (s.name.ends_with("_count") && s.value != last->value) refuse("_count is not the bucket +Inf");
      (s.name.ends_with("_count") ? has_count : has_sum) = true;
    }
    if (last && last->labels.at("le") != "+Inf") refuse("a histogram has no bucket +Inf");
    if (!has_count || !has_sum) refuse("a histogram lacks _count or _sum");
  }

  std::string_view left_;
  std::string_view rest_;  // the rest of the line
  int number_ = 0;
  bool is_over_ = false;
  openmetrics out_;
  std::string current_;
  std::set<std::string> metadata_;
  std::vector<openmetrics::labels> groups_;
  std::set<std::pair<std::string, openmetrics::labels>> seen_;
};

}  // namespace

openmetrics openmetrics::parse(std::string_view text) { return parser{text}.parse(); }

double openmetrics::value(std::string_view sample_name, const labels& of) const {
  for (const auto& [name, each] : families)
    for (const auto& s : each.samples)
      if (s.name == sample_name && s.labels == of) return s.value;
  throw std::runtime_error{"there is no sample " + std::string{sample_name}};
}

}  // namespace rowlock::test
