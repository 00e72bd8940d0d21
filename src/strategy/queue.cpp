#include "strategy/queue.hpp"

#include <algorithm>

#include "core/error_detail.hpp"
#include "core/wait.hpp"
#include "strategy/matching.hpp"

namespace rowlock::inline v1::strategies {

namespace {

bool says(const driver::cell& c) { return driver::maybe_integer(c).value_or(0) != 0; }

}  // namespace

std::int64_t enqueue(const dialect::table& sql, driver::session& on, const newcomer& who, const driver::limits& until) {
  const driver::request asked{who.name, who.owner, who.thread, who.attempt, core::ticket_life.count()};
  const auto rows = on.run(sql[dialect::verb::enqueue], {&asked, 1}, until);
  if (rows.empty())
    throw detail::error_access::make(errc::database_error, "the database gave no ticket to wait with",
                                     {.retryable = true});
  return driver::integer(rows[0].at(1));
}

std::vector<stay> keep_alive(const dialect::table& sql, driver::session& on, std::span<const ticket> some,
                             const driver::limits& until) {
  std::vector<driver::request> asked;
  asked.reserve(some.size());
  for (const ticket& t : some) asked.push_back({t.name, t.attempt, t.number, core::ticket_life.count()});
  std::vector<stay> out(some.size());
  match(
      some, &ticket::attempt, on.run(sql[dialect::verb::stay], asked, until),
      [&](std::size_t i, const driver::row& r) { out[i] = {.has_place = true, .may_go = r.size() > 1 && says(r[1])}; });
  return out;
}

std::vector<bool> leave(const dialect::table& sql, driver::session& on, std::span<const ticket> some,
                        const driver::limits& until) {
  std::vector<driver::request> asked;
  asked.reserve(some.size());
  for (const ticket& t : some) asked.push_back({t.name, t.attempt, t.number});
  std::vector<bool> out(some.size());
  match(some, &ticket::attempt, on.run(sql[dialect::verb::leave], asked, until),
        [&](std::size_t i, const driver::row& /*r*/) { out[i] = true; });
  return out;
}

void withdraw(const dialect::table& sql, driver::session& on, const ticket& t, const driver::limits& until) {
  const driver::request asked{t.name, t.attempt};
  on.run(sql[dialect::verb::withdraw], {&asked, 1}, until);
}

std::vector<turn> look_at_queues(const dialect::table& sql, driver::session& on, std::span<const ticket> some,
                                 const driver::limits& until) {
  std::vector<driver::request> asked;
  asked.reserve(some.size());
  for (const ticket& t : some) asked.push_back({t.name, t.number});
  std::vector<turn> out(some.size());
  match(some, &ticket::name, on.run(sql[dialect::verb::turn], asked, until), [&](std::size_t i, const driver::row& r) {
    const auto left = driver::maybe_integer(r.at(4));
    out[i] = {.is_behind = says(r.at(1)),
              .has_place = says(r.at(2)),
              .looks_free = says(r.at(3)),
              .left = left ? std::optional{duration{*left}} : std::nullopt,
              .version = fencing_token{driver::maybe_integer(r.at(5)).value_or(0)}};
  });
  return out;
}

std::vector<waiter_info> waiters(const dialect::table& sql, driver::session& on, std::string_view name,
                                 const driver::limits& until) {
  const driver::request asked{name};
  std::vector<waiter_info> out;
  for (const auto& r : on.run(sql[dialect::verb::waiters], {&asked, 1}, until))
    out.push_back({.ticket = driver::integer(r.at(0)),
                   .owner = driver::text(r.at(1)),
                   .thread = driver::text(r.at(2)),
                   .age = std::max(duration{driver::integer(r.at(3))}, duration::zero())});
  return out;
}

}  // namespace rowlock::inline v1::strategies
