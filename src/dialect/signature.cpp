#include "dialect/signature.hpp"

namespace rowlock::inline v1::dialect {

namespace {

using enum field;

constexpr signature of_acquire{{name, owner, thread, acquisition, lease, note}, {acquisition, version, left, permits}};
constexpr signature of_renewal{{name, acquisition, lease}, {acquisition, left}};
constexpr std::array<field, 10> row{name, version, owner, thread, acquisition, age, left, note, without_lease};
constexpr std::array<field, 10> held_row{name, version, owner, session,       acquisition,
                                         age,  left,    note,  without_lease, transaction};

signature of_leases(verb v) noexcept {
  signature out = of_acquire;
  switch (v) {
    case verb::acquire:
      return out;
    case verb::compare_and_set:
      out.arguments[6] = version;
      return out;
    case verb::hold_while_alive:
      out.arguments[6] = liveness;
      return out;
    case verb::acquire_in_turn:
      out.arguments[6] = ticket;
      out.arguments[7] = turn;
      out.arguments[8] = patience;
      out.columns = {acquisition, version,    left,    is_behind, has_ticket,
                     has_left,    looks_free, holding, held_as,   waiting};
      return out;
    case verb::hold:
      return {{name}, {name, version}};
    case verb::acquire_all:
      out.arguments[6] = version;
      out.columns = {acquisition, version, left};
      return out;
    case verb::acquire_any:
      out.columns = {name, version, left};
      return out;
    case verb::share:
      out.arguments[6] = permits;
      out.arguments[7] = room;
      out.arguments[8] = version;
      return out;
    case verb::renew:
    case verb::extend:
    case verb::renew_share:
    case verb::extend_share:
      return of_renewal;
    case verb::reserve:
      return {{name, acquisition, lease, number}, {acquisition, left, version, others_wait}};
    case verb::upgrade_share:
      return {{name, acquisition, owner, thread, note}, {acquisition, version, left}};
    case verb::downgrade:
      return {{name, acquisition, owner, thread, note, attempt, permits}, {acquisition, version, left}};
    case verb::release:
    case verb::release_alone:
    case verb::release_share:
      return {{name, acquisition}, {acquisition, told, waiting}};
    case verb::grant:
      return {{name, acquisition, ticket, attempt}, {acquisition}};
    case verb::first_in_turn:
      return {{name}, {owner, ticket, attempt, lease}};
    case verb::defer_release:
      return {{name, acquisition, lease}, {acquisition, told}};
    case verb::free:
      return {{name, version}, {name}};
    default:  // make, vacate_expired
      return {{name}, {anything}};
  }
}

signature of_tickets(verb v) noexcept {
  switch (v) {
    case verb::enqueue:
      return {{name, owner, thread, attempt, life, note, lease, room}, {attempt, ticket}};
    case verb::refresh_ticket:
      return {{name, attempt, ticket, life}, {attempt, may_go, waiting}};
    case verb::leave:
      return {{name, attempt, ticket}, {attempt, told}};
    case verb::mark_waiting:
    case verb::clear_waiting:
      return {{name}, {name}};
    case verb::first_waiter:
      return {{name, attempt}, {owner, told, is_behind}};
    case verb::turn:
      return {{name, turn, room, patience}, {name, is_behind, has_ticket, looks_free, left, version, holding, waiting}};
    case verb::waiters:
      return {{name}, {name, ticket, owner, thread, age, note}};
    case verb::list_waiters:
      return {{prefix, prefix_end}, {name, ticket, owner, thread, age, note}};
    case verb::declare_held:
      return {{ticket, name, acquisition}, {anything}};
    case verb::forget_held:
      return {{ticket}, {anything}};
    case verb::waiting_holders:
      return {{}, {name, ticket, owner, thread, held_name}};
    case verb::purge_held:
      return {{}, {anything}};
    case verb::ring:
      return {{owner}, {anything}};
    case verb::notify_waiters:
      return {{name, number}, {name, told}};
    case verb::find_dead:
      return {{ticket, number, retention}, {ticket, name, attempt, is_over}};
    case verb::purge_tickets:
      return {{name, attempt, ticket, retention}, {attempt}};
    default:  // withdraw, tell_next
      return {{name, attempt}, {anything}};
  }
}

}  // namespace

signature signature_of(verb v) noexcept {
  switch (v) {
    case verb::enqueue:
    case verb::refresh_ticket:
    case verb::leave:
    case verb::withdraw:
    case verb::mark_waiting:
    case verb::clear_waiting:
    case verb::first_waiter:
    case verb::turn:
    case verb::waiters:
    case verb::list_waiters:
    case verb::declare_held:
    case verb::forget_held:
    case verb::waiting_holders:
    case verb::purge_held:
    case verb::tell_next:
    case verb::ring:
    case verb::notify_waiters:
    case verb::find_dead:
    case verb::purge_tickets:
      return of_tickets(v);
    case verb::inspect: {
      signature out{{name}, row};
      out.columns[9] = waiting;
      return out;
    }
    case verb::list:
      return {{prefix, prefix_end}, row};
    case verb::touch: {
      signature out{{name}, row};
      out.columns[9] = is_unlocked;
      return out;
    }
    case verb::sharers: {
      signature out{{name}, row};
      out.columns[9] = permits;
      return out;
    }
    case verb::find_held:
    case verb::find_pinning:
      return {{name}, held_row};
    case verb::list_held:
      return {{prefix, prefix_end}, held_row};
    case verb::end_session:
      return {{name, session}, {anything}};
    case verb::pinned_by:
      return {{name, sign}, {anything}};
    case verb::names_liveness:
    case verb::vacate_dead:
      return {{liveness}, {anything}};
    case verb::find_unused:
      return {{name, number, retention}, {name, is_over, version}};
    case verb::raise_floor:
      return {{version}, {anything}};
    case verb::sweep:
      return {{name, retention}, {name}};
    case verb::reap_shares:
      return {{name}, {name}};
    case verb::purge_shares:
      return {{name}, {anything}};
    case verb::find_dead_shares:
      return {{name, number, retention}, {name}};
    case verb::installation:
      return {{}, {installation}};
    case verb::schema:
      return {{}, {version, serves_from, installation, applied_at, clock}};
    case verb::settings:
    case verb::connection:
      return {{}, {name, value}};
    case verb::count:
      return {{}, {names, waiters, longest_wait}};
    case verb::applied:
      return {{}, {version, checksum, serves_from, applied_at}};
    case verb::applying:
      return {{version, checksum}, {anything}};
    case verb::beat:
      return {{}, {anything}};
    case verb::probe:
      return {{}, {name}};
    default:
      return of_leases(v);
  }
}

}  // namespace rowlock::inline v1::dialect
