#include "store/tickets.hpp"

#include "core/error_detail.hpp"
#include "core/wait.hpp"

namespace rowlock::inline v1::store {

namespace {

arguments arguments_of(const ticket_ref& t) {
  return {{field::name, t.name},
          {field::attempt, t.attempt},
          {field::ticket, core::to_integer(t.number)},
          {field::turn, core::to_integer(t.number)},
          {field::life, core::ticket_life.count()},
          {field::room, t.max_other_permits},
          {field::patience, t.patience.count()}};
}

records run(sheets::verb what, const access& db, std::span<const ticket_ref> some) {
  return with_each(some, arguments_of, [&](std::span<const arguments> all) { return db.run_batch(what, all); });
}

}  // namespace

core::ticket_number enqueue(const access& db, const newcomer& who) {
  const auto lease = who.lease ? driver::argument{who.lease->count()} : driver::argument{};
  const auto max_other_permits = who.max_other_permits == core::sharing{}.max_other_permits
                                     ? driver::argument{}
                                     : driver::argument{who.max_other_permits};
  const auto rows = db.run(sheets::verb::enqueue, {{field::name, who.name},
                                                   {field::owner, who.owner},
                                                   {field::thread, who.thread},
                                                   {field::attempt, who.attempt},
                                                   {field::life, core::ticket_life.count()},
                                                   {field::note, who.note},
                                                   {field::lease, lease},
                                                   {field::room, max_other_permits}});
  if (rows.empty())
    throw detail::error_access::make(errc::database_error, "the database returned no ticket for the queue; try again",
                                     {.retryable = true});
  return core::ticket_number{rows[0].integer(field::ticket)};
}

std::vector<refreshed> refresh_tickets(const access& db, std::span<const ticket_ref> some) {
  std::vector<refreshed> out(some.size());
  correlate(some, &ticket_ref::attempt, run(sheets::verb::refresh_ticket, db, some),
            [&](std::size_t i, const record& r) {
              out[i] = {.has_ticket = true,
                        .may_go = r.is_true(field::may_go),
                        .is_marked = !r.has(field::waiting) || r.is_true(field::waiting)};
            });
  return out;
}

std::vector<bool> leave(const access& db, std::span<const ticket_ref> some) {
  std::vector<bool> out(some.size());
  correlate(some, &ticket_ref::attempt, run(sheets::verb::leave, db, some),
            [&](std::size_t i, const record& /*r*/) { out[i] = true; });
  return out;
}

void declare_held(const access& db, std::span<const held_name> some) {
  for (const auto& one : some)
    db.run(sheets::verb::declare_held, {{field::ticket, core::to_integer(one.by)},
                                        {field::name, std::string_view{one.name}},
                                        {field::acquisition, std::string_view{one.acquisition}}});
}

void forget_held(const access& db, core::ticket_number by) {
  db.run(sheets::verb::forget_held, {{field::ticket, core::to_integer(by)}});
}

std::vector<core::waiting_holder> waiting_holders(const access& db) {
  std::vector<core::waiting_holder> out;
  for (const auto& r : db.run(sheets::verb::waiting_holders, {})) {
    const core::ticket_number ticket{r.integer(field::ticket)};
    if (out.empty() || out.back().ticket != ticket)
      out.push_back({.ticket = ticket,
                     .waits_for = r.text(field::name),
                     .owner = r.text(field::owner),
                     .thread = r.text(field::thread)});
    out.back().has.push_back(r.text(field::held_name));
  }
  return out;
}

void withdraw(const access& db, const ticket_ref& one) {
  db.run(sheets::verb::withdraw, {{field::name, one.name}, {field::attempt, one.attempt}});
}

bool mark_waiting(const access& db, std::string_view name) {
  return !db.run(sheets::verb::mark_waiting, {{field::name, name}}).empty();
}

bool clear_waiting(const access& db, std::string_view name) {
  return !db.run(sheets::verb::clear_waiting, {{field::name, name}}).empty();
}

next_waiter first_waiter(const access& db, std::string_view name, std::string_view mine) {
  const auto rows = db.run(sheets::verb::first_waiter, {{field::name, name}, {field::attempt, mine}});
  if (rows.empty()) return {};
  return {.owner = rows[0].text(field::owner), .is_behind = rows[0].is_true(field::is_behind)};
}

std::vector<queue_position> look_at_queues(const access& db, std::span<const ticket_ref> some) {
  std::vector<queue_position> out(some.size());
  correlate(some, &ticket_ref::name, run(sheets::verb::turn, db, some), [&](std::size_t i, const record& r) {
    out[i] = {.is_behind = r.is_true(field::is_behind),
              .has_ticket = r.is_true(field::has_ticket),
              .looks_free = r.is_true(field::looks_free),
              .left = r.maybe_duration(field::left),
              .has_row = !r.is_null(field::version),
              .is_marked = r.is_true(field::waiting),
              .version = fencing_token{r.maybe_integer(field::version).value_or(0)},
              .holding = r.text(field::holding)};
  });
  return out;
}

void ring(const access& db, std::string_view owner) { db.run(sheets::verb::ring, {{field::owner, owner}}); }

}  // namespace rowlock::inline v1::store
