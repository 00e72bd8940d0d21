#include "sql/loader.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>

namespace rowlock::inline v1::sheets {

namespace {

constexpr std::string_view enlisted = "enlisted.";
// All requests of a batch, as one argument.
constexpr std::string_view requests = "requests";
constexpr std::string_view prose[] = {"doing",      "does",  "locks",       "clock", "no row",
                                      "reply lost", "rules", "answered by", "none"};

struct statement_key {
  std::string_view key;
  std::optional<std::string> step::*text;
};
constexpr statement_key statements[] = {{"read", &step::read},
                                        {"write", &step::write},
                                        {"then", &step::then},
                                        {"read back", &step::read_back},
                                        {"batch", &step::batch},
                                        {"batch then", &step::batch_then},
                                        {"batch skipping", &step::batch_skipping},
                                        {"batch skipping then", &step::batch_skipping_then},
                                        {"batch read back", &step::batch_read_back},
                                        {"making", &step::making},
                                        {"batch making", &step::batch_making}};

struct rule {
  std::string_view name;
  bool step::*holds;
};
constexpr rule rules[] = {{"counts", &step::counts},
                          {"read_explains", &step::read_explains},
                          {"takes_one", &step::takes_one},
                          {"takes_all", &step::takes_all},
                          {"batch_waits", &step::batch_waits},
                          {"always_changes", &step::always_changes},
                          {"locks_where_refused", &step::locks_where_refused},
                          {"waits_to_make", &step::waits_to_make}};

struct enlisted_text {
  std::string_view name;
  std::string enlisted_texts::*text;
};
constexpr enlisted_text enlisted_statements[] = {{"take_vacant", &enlisted_texts::take_vacant},
                                                 {"take", &enlisted_texts::take},
                                                 {"await", &enlisted_texts::await},
                                                 {"change", &enlisted_texts::change},
                                                 {"pin", &enlisted_texts::pin},
                                                 {"isolation", &enlisted_texts::isolation},
                                                 {"prolong", &enlisted_texts::prolong},
                                                 {"see", &enlisted_texts::see},
                                                 {"installation", &enlisted_texts::installation},
                                                 {"set", &enlisted_texts::set}};

[[noreturn]] void fail(std::string_view where, std::string_view what) {
  throw std::logic_error{"the sheet of SQL is wrong: " + std::string{where} + ": " + std::string{what}};
}

template <class Range, class Item>
const Item& named(const Range& some, std::string_view Item::*key, std::string_view name) {
  const auto found = std::find_if(std::begin(some), std::end(some), [&](const Item& i) { return i.*key == name; });
  if (found == std::end(some)) fail(name, "unknown");
  return *found;
}

// --- names -----------------------------------------------------------------------------------------------------------

template <class Enum>
Enum value_named(std::string_view name, std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) fail(name, "unknown");
  return static_cast<Enum>(found - names.begin());
}

template <class Names>
Names fields_named(std::span<const std::string_view> some) {
  Names out{};
  for (std::size_t i = 0; i < some.size(); ++i) out.at(i) = value_named<field>(some[i], names_of_fields);
  return out;
}

// --- reading ---------------------------------------------------------------------------------------------------------

// verb(argument, …) -> column, …
entry entry_of(std::string_view text) {
  constexpr std::string_view arrow = ") -> ";
  const auto open = text.find('(');
  const auto close = text.find(arrow);
  if (open > close || close == std::string_view::npos) fail(text, "not name(arguments) -> columns");
  return {.name = text.substr(0, open),
          .arguments = split(text.substr(open + 1, close - open - 1)),
          .columns = split(text.substr(close + arrow.size()))};
}

bool is_key(std::string_view key) {
  return begins_statement(key) || std::find(std::begin(prose), std::end(prose), key) != std::end(prose);
}

void read_comment(std::string_view line, std::vector<entry>& to) {
  const auto [key, value, statement] = slot_in(line);
  if (key == "name") {
    to.push_back(entry_of(value));
  } else if (is_key(key)) {
    if (to.empty() || to.back().find(key) != nullptr) fail(line, "comes twice, or before a name");
    to.back().slots.push_back({.key = key, .value = value});
  }
}

void read_sql(std::string_view line, std::vector<entry>& to) {
  if (to.empty() || to.back().slots.empty() || !begins_statement(to.back().slots.back().key))
    fail(line, "belongs to no statement");
  auto& statement = to.back().slots.back().statement;
  if (!statement.empty()) statement.push_back('\n');
  statement.append(line);
}

// --- writing ---------------------------------------------------------------------------------------------------------

/// The statements of a sheet as they are sent.
class writer {
 public:
  writer(std::span<const entry> entries, const spelling& how) : entries_{entries}, how_{how} {}

  std::optional<std::string> text(const entry& of, std::string_view key) const {
    if (of.find(key) == nullptr) return std::nullopt;
    return how_.finish(numbered(of, laid_out(for_locked_rows(statement(of, key), key))), of);
  }
  step step_of(const entry& of) const;

 private:
  std::string_view statement(const entry& of, std::string_view key) const;
  static std::string for_locked_rows(std::string_view statement, std::string_view key);
  std::string laid_out(std::string_view statement) const;
  std::string numbered(const entry& of, std::string_view statement) const;

  std::span<const entry> entries_;
  const spelling& how_;
};

std::string_view writer::statement(const entry& of, std::string_view key) const {
  constexpr std::string_view as = "as ";
  const auto* const slot = of.find(key);
  if (slot == nullptr) fail(of.name, key);
  std::string_view out = slot->statement;
  if (out.empty() && slot->value == "as batch") return statement(of, "batch");
  if (out.empty() && slot->value.starts_with(as))
    return statement(named(entries_, &entry::name, slot->value.substr(as.size())), key);
  if (!out.ends_with(';')) fail(of.name, "a statement does not end with a semicolon");
  out.remove_suffix(1);
  return out;
}

std::string writer::for_locked_rows(std::string_view statement, std::string_view key) {
  constexpr std::string_view waiting = "{waiting}";
  const bool skips = key == "batch skipping";
  auto out = replaced(statement, "{skipping}", skips ? " SKIP LOCKED" : "");
  if (!skips) return replaced(out, waiting, "");
  for (auto at = out.find(waiting); at != std::string::npos; at = out.find(waiting))
    out.erase(at, out.find('\n', at) + 1 - at);
  return out;
}

// A statement of several lines begins with a line break.
std::string writer::laid_out(std::string_view statement) const {
  if (statement.find('\n') == std::string_view::npos) return std::string{statement};
  if (!how_.is_one_line) return "\n" + std::string{statement};
  std::string out;
  for (auto end = statement.find('\n'); end != std::string_view::npos; end = statement.find('\n')) {
    out.append(statement.substr(0, end)).push_back(' ');
    statement.remove_prefix(statement.find_first_not_of(' ', end + 1));
  }
  return out.append(statement);
}

constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || c == '_'; }

// An argument: neither a cast, as in PostgreSQL, nor in quotes.
std::size_t find_argument(std::string_view text) noexcept {
  for (std::size_t at = 0;; ++at) {
    at = find_parameter(text, ':', '\'', at);
    if (at == std::string_view::npos) return at;
    if (at + 1 < text.size() && is_letter(text[at + 1]) && (at == 0 || text[at - 1] != ':')) return at;
  }
}

std::string writer::numbered(const entry& of, std::string_view statement) const {
  std::string out;
  for (auto at = find_argument(statement); at != std::string_view::npos; at = find_argument(statement)) {
    out.append(statement.substr(0, at)).push_back(how_.sign);
    statement.remove_prefix(at + 1);
    const auto* const end = std::find_if_not(statement.begin(), statement.end(), is_letter);
    const std::string_view name{statement.begin(), end};
    out.append(std::to_string(name == requests ? 1 : place_of(of, name) + 1));
    statement.remove_prefix(name.size());
  }
  return out.append(statement);
}

step writer::step_of(const entry& of) const {
  step out{.verb = value_named<verb>(of.name, names_of_verbs),
           .signature = {fields_named<argument_names>(of.arguments), fields_named<column_names>(of.columns)}};
  const auto key = std::find(of.arguments.begin(), of.arguments.end(), of.columns.at(0));
  if (key != of.arguments.end()) out.key = place_of(of, *key);
  for (const auto& each : statements) out.*each.text = text(of, each.key);
  if (const auto* const slot = of.find("answered by"); slot != nullptr) out.answered_by = place_of(of, slot->value);
  if (const auto* const slot = of.find("rules"); slot != nullptr)
    for (const auto name : split(slot->value)) out.*named(rules, &rule::name, name).holds = true;
  return out;
}

}  // namespace

const entry::slot* entry::find(std::string_view key) const noexcept {
  const auto found = std::find_if(slots.begin(), slots.end(), [&](const slot& s) { return s.key == key; });
  return found == slots.end() ? nullptr : &*found;
}

std::vector<entry> read_sheet(std::string_view text) {
  std::vector<entry> out;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) continue;
    line.substr(begin).starts_with("--") ? read_comment(line, out) : read_sql(line, out);
  }
  return out;
}

sheet sheet_of(std::span<const entry> entries, const spelling& how, const sheet::naming& names,
               const capabilities& declared) {
  const writer statements_of{entries, how};
  std::vector<step> steps;
  for (const entry& each : entries)
    if (!each.name.starts_with(enlisted)) steps.push_back(statements_of.step_of(each));
  return {steps, names, declared};
}

enlisted_texts enlisted_of(std::span<const entry> entries, const spelling& how, std::string_view place) {
  const writer statements_of{entries, how};
  enlisted_texts out;
  for (const entry& each : entries) {
    if (!each.name.starts_with(enlisted)) continue;
    const auto name = each.name.substr(enlisted.size());
    const auto text = statements_of.text(each, each.slots.at(0).key).value();
    out.*named(enlisted_statements, &enlisted_text::name, name).text = with_prefix(text, place);
  }
  return out;
}

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    const auto end = std::min(list.find(", "), list.size());
    out.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 2, list.size()));
  }
  return out;
}

std::size_t find_outside(std::string_view text, char what, std::size_t from) {
  int depth = 0;
  while (depth > 0 || text.at(from) != what) {
    depth += text[from] == '(' ? 1 : text[from] == ')' ? -1 : 0;
    ++from;
  }
  return from;
}

std::string expanded(std::string text, std::string_view name, const std::function<std::string(std::string_view)>& as) {
  const auto begin = std::string{name} + "(";
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
    const auto from = at + begin.size();
    const auto end = find_outside(text, ')', from);
    text.replace(at, end + 1 - at, as(std::string_view{text}.substr(from, end - from)));
  }
  return text;
}

std::string with_insists(std::string text, std::string_view condition) {
  return expanded(std::move(text), "insists", [&](std::string_view x) { return replaced(condition, "{x}", x); });
}

std::size_t place_of(const entry& in, std::string_view argument) {
  const auto found = std::find(in.arguments.begin(), in.arguments.end(), argument);
  if (found == in.arguments.end()) fail(in.name, argument);
  return static_cast<std::size_t>(found - in.arguments.begin());
}

entry::slot slot_in(std::string_view comment) {
  constexpr std::size_t dashes = 3;
  const auto colon = comment.find(':');
  if (comment.size() < dashes || colon == std::string_view::npos) return {};
  return {.key = comment.substr(dashes, colon - dashes), .value = comment.substr(std::min(colon + 2, comment.size()))};
}

bool begins_statement(std::string_view key) noexcept {
  return std::any_of(std::begin(statements), std::end(statements), [&](const auto& s) { return s.key == key; });
}

const std::string& statement_in(const sheet& sent, const enlisted_texts& of_caller, const entry& of,
                                std::string_view key) {
  if (of.name.starts_with(enlisted))
    return of_caller.*named(enlisted_statements, &enlisted_text::name, of.name.substr(enlisted.size())).text;
  const auto& made = sent[value_named<verb>(of.name, names_of_verbs)];
  return (made.*named(statements, &statement_key::key, key).text).value();
}

std::string_view name_of(verb v) noexcept { return names_of_verbs[static_cast<std::size_t>(v)]; }

}  // namespace rowlock::inline v1::sheets
