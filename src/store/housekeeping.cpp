#include "store/housekeeping.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/text.hpp"
#include "core/wait.hpp"

namespace rowlock::inline v1::store {

unused_names find_unused(const access& db, std::string_view after, std::size_t number, duration retention) {
  unused_names out;
  for (const auto& r : db.run(sheets::verb::find_unused, {{field::name, after},
                                                          {field::number, static_cast<std::int64_t>(number)},
                                                          {field::retention, retention.count()}})) {
    auto name = r.text(field::name);
    if (!r.is_true(field::is_over)) {
      out.last = std::move(name);
    } else if (!base::is_plain_text(name)) {
      out.invalid_names.push_back(std::move(name));
    } else {
      out.greatest = std::max(out.greatest, r.integer(field::version));
      out.names.push_back(std::move(name));
    }
  }
  return out;
}

// The floor is committed first, and no row above it is deleted. So the outcome of the second call does not matter.
std::size_t sweep(const access& db, const unused_names& page, duration retention) {
  std::vector<arguments> asked;
  asked.reserve(page.names.size());
  db.run(sheets::verb::raise_floor, {{field::version, page.greatest}});
  for (const auto& n : page.names)
    asked.push_back({{field::name, std::string_view{n}}, {field::retention, retention.count()}});
  return db.run_batch(sheets::verb::sweep, asked).size();
}

dead_tickets find_dead(const access& db, core::ticket_number after, std::size_t number) {
  dead_tickets out;
  for (const auto& r : db.run(sheets::verb::find_dead, {{field::ticket, core::to_integer(after)},
                                                        {field::number, static_cast<std::int64_t>(number)},
                                                        {field::retention, core::ticket_retention.count()}})) {
    const core::ticket_number found{r.integer(field::ticket)};
    if (r.is_true(field::is_over))
      out.tickets.push_back({.number = found, .name = r.text(field::name), .attempt = r.text(field::attempt)});
    else
      out.last = found;
  }
  return out;
}

void purge_held(const access& db) { db.run(sheets::verb::purge_held, {}); }

std::size_t purge_tickets(const access& db, std::span<const dead_ticket> tickets) {
  std::vector<arguments> asked;
  asked.reserve(tickets.size());
  for (const auto& t : tickets)  // a name that is not text cannot be sent, and the number is enough
    asked.push_back({{field::name, base::is_plain_text(t.name) ? std::string_view{t.name} : std::string_view{}},
                     {field::attempt, std::string_view{t.attempt}},
                     {field::ticket, core::to_integer(t.number)},
                     {field::retention, core::ticket_retention.count()}});
  return db.run_batch(sheets::verb::purge_tickets, asked).size();
}

std::vector<std::string> find_dead_shares(const access& db, std::string_view after, std::size_t number) {
  std::vector<std::string> out;
  for (const auto& r : db.run(sheets::verb::find_dead_shares, {{field::name, after},
                                                               {field::number, static_cast<std::int64_t>(number)},
                                                               {field::retention, core::ticket_retention.count()}}))
    out.push_back(r.text(field::name));
  return out;
}

void purge_shares(const access& db, std::string_view name) {
  db.run(sheets::verb::purge_shares, {{field::name, name}});
}

notified_names notify_waiters(const access& db, std::string_view after, std::size_t number) {
  notified_names out;
  if (!db.sheet.can().notifies_waiters) return out;
  for (const auto& r : db.run(sheets::verb::notify_waiters,
                              {{field::name, after}, {field::number, static_cast<std::int64_t>(number)}})) {
    if (!r.is_null(field::notified)) ++out.notified;
    out.last = std::max(out.last, r.text(field::name));
  }
  return out;
}

}  // namespace rowlock::inline v1::store
