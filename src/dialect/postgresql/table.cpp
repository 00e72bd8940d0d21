#include <utility>

#include "dialect/postgresql/parts.hpp"
#include "dialect/steps.hpp"

namespace rowlock::inline v1::dialect {

namespace postgresql_parts {

namespace {

// A time that somebody has set to infinity by hand counts as far away: to calculate with infinity would be an error for
// every client that reads the row.
std::string with_finite_times(std::string text) {
  constexpr std::string_view finite =
      "(CASE % WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' "
      "WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE % END)";
  for (const std::string_view of : {"expires_at", "l.expires_at", "acquired_at", "enqueued_at"})
    for (const std::string_view use : {" us(% - ", " us(clock_timestamp() - %)", "min(%)"})
      text = replaced(text, replaced(use, "%", of), replaced(use, "%", replaced(finite, "%", of)));
  return text;
}

// us(…) to its closing bracket: brackets inside are balanced.
std::string with_microseconds(std::string text) {
  constexpr std::string_view begin = " us(";
  for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    auto end = at + begin.size();
    for (int depth = 1; depth > 0; ++end) depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    text.insert(end, " * 1000000)::bigint");
    text.replace(at, begin.size(), " (extract(epoch FROM ");
  }
  return text;
}

std::string setting(std::string_view name, std::string_view value) {
  return " AND set_config('" + std::string{name} + "', '" + std::string{value} + "', true) IS NOT NULL";
}

}  // namespace

std::string finished(std::string_view text, const choices& with) {
  const auto durable = with.transaction_pooling ? setting("synchronous_commit", "on") : std::string{};
  const auto relaxed = setting("synchronous_commit", "off");
  auto out = replaced(text, "{first_token}", "greatest({floor} + 1, us(clock_timestamp()))");
  out = replaced(replaced(out, "{token}", "us(clock_timestamp())"), "{floor}", floor);
  out = replaced(out, "{durably}", durable);
  out = replaced(out, "{relaxed}", relaxed);
  out = replaced(out, "{releasing}", with.durable_release ? durable : relaxed);
  out = replaced(out, "{briefly}", with.transaction_pooling ? setting("lock_timeout", "100ms") : std::string{});
  return with_microseconds(with_finite_times(std::move(out)));
}

}  // namespace postgresql_parts

table postgresql(std::string_view prefix, const choices& with) {
  auto steps = joined(postgresql_parts::leases(), postgresql_parts::tickets(), postgresql_parts::sharing(),
                      postgresql_parts::inspection(), postgresql_parts::housekeeping(), postgresql_parts::schema());
  static_assert(steps.size() ==
                table::size - 6);  // those for databases without row locks; what its settings and its release tell
  for (step& s : steps) change_texts(s, [&](std::string& text) { text = postgresql_parts::finished(text, with); });
  return {steps, {.prefix = prefix}};
}

std::optional<step> postgresql_without_notices(const step& of) {
  if (of.verb == verb::ring || of.verb == verb::first_waiter || of.verb == verb::tell_next) return std::nullopt;
  step out = of;
  bool notifies = false;
  change_texts(out, [&](std::string& text) {
    auto silent = replaced(text, "pg_notify(", "nullif('', '') || concat(");  // NULL: nobody was told
    notifies = notifies || silent != text;
    text = replaced(silent, " AS granted", " AND false AS granted");
  });
  return notifies ? std::optional{std::move(out)} : std::nullopt;
}

}  // namespace rowlock::inline v1::dialect
