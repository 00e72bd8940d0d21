#include "strategy/housekeeping.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/sweep.hpp"
#include "core/text.hpp"

namespace rowlock::inline v1::strategies {

namespace {

std::vector<driver::row> run_one(const dialect::table& sql, dialect::verb what, driver::session& on,
                                 const driver::request& one, const driver::limits& until) {
  return on.run(sql[what], {&one, 1}, until);
}

}  // namespace

unused_names find_unused(const dialect::table& sql, driver::session& on, std::string_view after, std::size_t number,
                         duration retention, const driver::limits& until) {
  unused_names out;
  const driver::request page{after, static_cast<std::int64_t>(number), retention.count()};
  for (const auto& r : run_one(sql, dialect::verb::find_unused, on, page, until)) {
    auto name = driver::text(r.at(0));
    if (driver::integer(r.at(1)) == 0)
      out.last = std::move(name);
    else
      (core::is_plain_text(name) ? out.names : out.odd).push_back(std::move(name));
  }
  return out;
}

std::size_t sweep(const dialect::table& sql, driver::session& on, std::span<const std::string> names,
                  duration retention, const driver::limits& until) {
  std::vector<driver::request> asked;
  asked.reserve(names.size());
  for (const auto& n : names) asked.push_back({std::string_view{n}, retention.count()});
  return on.run(sql[dialect::verb::sweep], asked, until).size();
}

dead_tickets find_dead(const dialect::table& sql, driver::session& on, std::int64_t after, std::size_t number,
                       const driver::limits& until) {
  dead_tickets out;
  const driver::request page{after, static_cast<std::int64_t>(number), core::ticket_retention.count()};
  for (const auto& r : run_one(sql, dialect::verb::find_dead, on, page, until)) {
    if (driver::integer(r.at(3)) != 0)
      out.tickets.push_back(
          {.number = driver::integer(r.at(0)), .name = driver::text(r.at(1)), .attempt = driver::text(r.at(2))});
    else
      out.last = driver::integer(r.at(0));
  }
  return out;
}

std::size_t bury(const dialect::table& sql, driver::session& on, std::span<const dead_ticket> tickets,
                 const driver::limits& until) {
  std::vector<driver::request> asked;
  asked.reserve(tickets.size());
  for (const auto& t : tickets)  // what is no text cannot be sent, and its number is enough
    asked.push_back({core::is_plain_text(t.name) ? std::string_view{t.name} : std::string_view{},
                     std::string_view{t.attempt}, t.number, core::ticket_retention.count()});
  return on.run(sql[dialect::verb::bury], asked, until).size();
}

announced_names announce(const dialect::table& sql, driver::session& on, std::string_view after, std::size_t number,
                         const driver::limits& until) {
  announced_names out;
  if (sql[dialect::verb::announce].look.empty()) return out;
  const driver::request page{after, static_cast<std::int64_t>(number)};
  for (const auto& r : run_one(sql, dialect::verb::announce, on, page, until)) {
    if (!std::holds_alternative<std::monostate>(r.at(1))) ++out.told;
    out.last = std::max(out.last, driver::text(r.at(0)));
  }
  return out;
}

}  // namespace rowlock::inline v1::strategies
