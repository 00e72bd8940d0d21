#include "strategy/inspection.hpp"

#include <algorithm>

#include "core/text.hpp"

namespace rowlock::inline v1::strategies {

namespace {

// name, version, owner, thread, acquisition, age, left, note, without a lease
enum column : std::size_t { name, version, owner, thread, acquisition, age, left, note, without_lease };

std::optional<duration> maybe_duration(const driver::cell& c) {
  const auto us = driver::maybe_integer(c);
  return us ? std::optional{duration{*us}} : std::nullopt;
}

lock_info info_of(const driver::row& r) {
  const auto held_for = maybe_duration(r.at(age));
  return {.name = driver::text(r.at(name)),
          .token = fencing_token{driver::integer(r.at(version))},
          .owner = driver::text(r.at(owner)),
          .thread = driver::text(r.at(thread)),
          .held_for = held_for ? std::optional{std::max(*held_for, duration::zero())} : std::nullopt,
          .expires_in = maybe_duration(r.at(left)),
          .held_by_transaction = driver::integer(r.at(without_lease)) != 0,
          .note = driver::text(r.at(note))};
}

std::vector<driver::row> rows_of(const dialect::table& sql, driver::session& on, std::string_view name,
                                 const driver::limits& until) {
  const driver::request asked{name};
  return on.run(sql[dialect::verb::inspect], {&asked, 1}, until);
}

}  // namespace

row_state row_state_of(const driver::row& r) {
  return {.token = fencing_token{driver::integer(r.at(version))},
          .acquisition = driver::text(r.at(acquisition)),
          .is_vacant = std::holds_alternative<std::monostate>(r.at(owner)),
          .left = maybe_duration(r.at(left))};
}

std::optional<row_state> look_at(const dialect::table& sql, driver::session& on, std::string_view name,
                                 const driver::limits& until) {
  const auto rows = rows_of(sql, on, name, until);
  return rows.empty() ? std::nullopt : std::optional{row_state_of(rows[0])};
}

std::optional<lock_info> find(const dialect::table& sql, driver::session& on, std::string_view name,
                              const driver::limits& until) {
  const auto rows = rows_of(sql, on, name, until);
  if (rows.empty()) return std::nullopt;
  const row_state state = row_state_of(rows[0]);
  if (state.is_free()) return std::nullopt;
  return info_of(rows[0]);
}

std::vector<lock_info> list(const dialect::table& sql, driver::session& on, std::string_view prefix,
                            const driver::limits& until) {
  const auto end = core::prefix_end(prefix);
  driver::request asked{prefix};
  if (end) asked[1] = std::string_view{*end};
  std::vector<lock_info> out;
  for (const auto& r : on.run(sql[dialect::verb::list], {&asked, 1}, until)) out.push_back(info_of(r));
  return out;
}

}  // namespace rowlock::inline v1::strategies
