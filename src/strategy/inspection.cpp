#include "strategy/inspection.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

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

bool is_name(std::string_view text) { return !text.empty() && text.size() <= 255 && core::is_plain_text(text); }

void append_infos(const std::vector<driver::row>& rows, std::vector<lock_info>& to, std::vector<std::string>& odd) {
  for (const auto& r : rows) {
    auto written = driver::text(r.at(name));
    if (is_name(written)) {
      to.push_back(info_of(r));
    } else {
      odd.push_back(std::move(written));
    }
  }
}

// Of rows that look free: what their transactions have not committed, nobody sees.
void append_held_by_transactions(const dialect::step& by, driver::session& on, const driver::request& asked,
                                 const driver::limits& until, std::vector<lock_info>& to,
                                 std::vector<std::string>& odd) {
  if (!by.look.empty()) append_infos(on.run(by, {&asked, 1}, until), to, odd);
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
  if (!row_state_of(rows[0]).is_free()) return info_of(rows[0]);
  return find_keeper(sql, on, name, false, until);
}

std::optional<lock_info> find_keeper(const dialect::table& sql, driver::session& on, std::string_view name,
                                     bool has_owner, const driver::limits& until) {
  const auto& pinning = sql[dialect::verb::find_pinning];
  const bool tells_of_pins = has_owner && !pinning.look.empty();
  std::vector<lock_info> found;
  std::vector<std::string> odd;
  append_held_by_transactions(tells_of_pins ? pinning : sql[dialect::verb::find_held], on, {name}, until, found, odd);
  return found.empty() ? std::nullopt : std::optional{std::move(found[0])};
}

std::vector<lock_info> list(const dialect::table& sql, driver::session& on, std::string_view prefix,
                            const driver::limits& until, std::vector<std::string>& odd) {
  const auto end = core::prefix_end(prefix);
  driver::request asked{prefix};
  if (end) asked[1] = std::string_view{*end};
  std::vector<lock_info> out;
  append_infos(on.run(sql[dialect::verb::list], {&asked, 1}, until), out, odd);
  append_held_by_transactions(sql[dialect::verb::list_held], on, asked, until, out, odd);
  std::stable_sort(out.begin(), out.end(), [](const lock_info& a, const lock_info& b) { return a.name < b.name; });
  const auto rest =  // what a transaction has taken since
      std::unique(out.begin(), out.end(), [](const lock_info& a, const lock_info& b) { return a.name == b.name; });
  out.erase(rest, out.end());
  return out;
}

database_statistics count(const dialect::table& sql, driver::session& on, const driver::limits& until,
                          std::vector<std::string>& odd) {
  const driver::request nothing{};
  const auto counted = on.run(sql[dialect::verb::count], {&nothing, 1}, until).at(0);
  database_statistics out{.names = static_cast<std::uint64_t>(driver::integer(counted.at(0))),
                          .waiters = static_cast<std::uint64_t>(driver::integer(counted.at(1))),
                          .longest_wait = maybe_duration(counted.at(2))};
  for (const lock_info& each : list(sql, on, {}, until, odd)) {
    ++out.held;
    if (each.held_by_transaction) ++out.held_by_transaction;
    out.longest_hold = std::max(out.longest_hold, each.held_for);
  }
  return out;
}

}  // namespace rowlock::inline v1::strategies
