#include "command/situation.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

/// Whether `thread` is the session of a transaction, which some servers report.
bool is_session(const std::string& thread) { return thread.starts_with("session "); }

std::string expiry_of(const lock_info& lock) {
  if (lock.expires_in) return "in " + format_duration(*lock.expires_in);
  return lock.held_by_transaction ? "not by the clock: held by a transaction" : "not by the clock";
}

std::string permits_of(const lock_info& lock) { return counted(static_cast<std::uint64_t>(lock.sharers), "permit"); }

/// Whether the lock was released, but lock_options::at_least keeps the name taken.
bool is_released(const lock_info& lock) { return lock.sharers == 0 && lock.thread == "(released)"; }

std::string bond_of(const lock_info& lock) {
  if (is_released(lock)) return "finished: at_least keeps the name taken until it expires";
  if (lock.sharers > 0) return "leases, " + permits_of(lock);
  if (!lock.held_by_transaction) return "a lease";
  return "a transaction" + (is_session(lock.thread) ? " of " + lock.thread : std::string{});
}

void write_sharers(std::ostream& out, const std::vector<lock_info>& all) {
  if (all.empty()) return;
  std::vector<table_line> lines{{"TOKEN", "HELD", "EXPIRES", "PERMITS", "OWNER", "THREAD", "NOTE"}};
  for (const auto& each : all)
    lines.push_back({token_or_dash(each), duration_or_dash(each.held_for), duration_or_dash(each.expires_in),
                     std::to_string(each.sharers), each.owner, each.thread, each.note});
  out << '\n';
  write_table(out, lines);
}

void write_details(std::ostream& out, const lock_info& lock) {
  const auto field = [&](const char* title, std::string_view value) { write_field(out, 9, title, value); };
  field("name", lock.name.view());
  field("token", token_or_dash(lock));
  field("owner", or_dash(lock.owner));
  field("thread", or_dash(lock.thread));
  field("held as", bond_of(lock));
  field("held for", duration_or_dash(lock.held_for));
  field("expires", expiry_of(lock));
  if (!lock.note.empty()) field("note", lock.note);
}

bool is_holder(const std::vector<lock_info>& held, const waiter_info& waiter) {
  const auto found = std::lower_bound(held.begin(), held.end(), waiter.name,
                                      [](const lock_info& each, const lock_name& name) { return each.name < name; });
  return found != held.end() && found->name == waiter.name && found->owner == waiter.owner &&
         found->thread == waiter.thread;
}

/// A waiter that was granted the lock between the two queries is in both answers.
void remove_holders(std::vector<waiter_info>& queue, const std::vector<lock_info>& held) {
  std::erase_if(queue, [&](const waiter_info& each) { return is_holder(held, each); });
}

bool waits_for(const wait_edge& a, const wait_edge& b) {
  return std::find(a.holders.begin(), a.holders.end(), b.who) != a.holders.end();
}

bool reaches(const std::vector<wait_edge>& all, const wait_edge& from, const wait_edge& wanted,
             std::set<const wait_edge*>& seen) {
  if (waits_for(from, wanted)) return true;
  return std::any_of(all.begin(), all.end(), [&](const wait_edge& next) {
    return waits_for(from, next) && seen.insert(&next).second && reaches(all, next, wanted, seen);
  });
}

std::vector<party> parties_that_hold(client& locks, const lock_name& name) {
  std::vector<party> out;
  for (const auto& each : holders_of(locks, name))
    out.push_back({.owner = each.sharers > 0 ? each.owner : owner_of(each), .thread = each.thread});
  return out;
}

}  // namespace

// The queue first: a waiter that is granted the lock in between is seen twice rather than not at all.
situation look_at(client& locks, const std::string& name) {
  situation seen{.name = name, .queue = locks.waiters(name)};
  seen.holder = locks.find(name);
  seen.quarantine = locks.stats().quarantine;
  if (!seen.holder) return seen;
  if (seen.holder->sharers > 0) seen.sharers = locks.sharers(name);
  remove_holders(seen.queue, {*seen.holder});
  return seen;
}

overview look_at_all(client& locks, std::string_view prefix) {
  overview seen{.queue = locks.list_waiters(prefix)};
  seen.held = locks.list(prefix);
  seen.quarantine = locks.stats().quarantine;
  remove_holders(seen.queue, seen.held);
  return seen;
}

std::vector<lock_info> holders_of(client& locks, const lock_name& name) {
  const auto found = locks.find(name);
  if (!found) return {};
  return found->sharers > 0 ? locks.sharers(name) : std::vector{*found};
}

std::vector<wait_edge> wait_graph(client& locks) {
  std::vector<wait_edge> out;
  for (const auto& each : look_at_all(locks, {}).queue)
    out.push_back({.who = {.owner = each.owner, .thread = each.thread},
                   .name = std::string{each.name.view()},
                   .holders = out.empty() || out.back().name != each.name.view() ? parties_that_hold(locks, each.name)
                                                                                 : out.back().holders});
  mark_circles(out);
  return out;
}

void mark_circles(std::vector<wait_edge>& all) {
  for (auto& each : all) {
    std::set<const wait_edge*> seen;
    each.is_in_circle = reaches(all, each, each, seen);
  }
}

std::optional<fencing_token> known_token(const lock_info& lock) {
  return lock.token.value() > 0 ? std::optional{lock.token} : std::nullopt;
}

std::string token_or_dash(const lock_info& lock) {
  const auto token = known_token(lock);
  return token ? std::to_string(token->value()) : "-";
}

std::string owner_of(const lock_info& lock) {
  if (lock.sharers > 0) return lock.owner + ", " + permits_of(lock);
  if (is_released(lock)) return lock.owner + " (finished, kept until it expires)";
  if (!lock.held_by_transaction) return lock.owner;
  if (lock.owner.empty()) return bond_of(lock);
  return is_session(lock.thread) ? lock.owner + ", " + bond_of(lock) : lock.owner;
}

std::string holder_in_words(const lock_info& lock) {
  return owner_of(lock) + (lock.note.empty() ? "" : " (" + lock.note + ')');
}

freeing free_as_seen(client& locks, const lock_info& seen) {
  const auto token = seen.sharers > 0 ? std::nullopt : known_token(seen);
  if (locks.force_release(seen.name, token)) return freeing::freed;
  return locks.find(seen.name) ? freeing::passed_on : freeing::not_held;
}

std::string why_not_freed(std::string_view name, freeing result) {
  const auto quoted = base::quoted(name);
  if (result == freeing::not_held) return quoted + " is not held";
  return quoted + " was not freed" + (result == freeing::passed_on ? ": another client holds it now" : "");
}

std::string not_held_in_words(duration quarantine) {
  if (quarantine == duration::zero()) return "not held";
  return "not held, but nothing is granted for " + format_duration(quarantine) + ", the rest of a quarantine";
}

void write(std::ostream& out, const situation& seen) {
  if (seen.holder) write_details(out, *seen.holder);
  write_sharers(out, seen.sharers);
  if (seen.holder && !seen.queue.empty()) out << '\n';
  write_queue(out, seen.queue);
}

void write_queue(std::ostream& out, const std::vector<waiter_info>& queue, bool has_names) {
  if (queue.empty()) return;
  std::vector<table_line> lines{{"NAME", "TICKET", "AGE", "OWNER", "THREAD", "NOTE"}};
  for (const auto& each : queue)
    lines.push_back({std::string{each.name.view()}, std::to_string(each.ticket), format_duration(each.age), each.owner,
                     each.thread, each.note});
  if (!has_names)
    for (auto& line : lines) line.erase(line.begin());
  write_table(out, lines);
}

void write_graph(std::ostream& out, const std::vector<wait_edge>& all) {
  std::vector<table_line> lines{{"WAITER", "THREAD", "WAITS FOR", "HELD BY", "THREAD", "IN A CIRCLE"}};
  for (const auto& each : all) {
    const auto line = [&](std::string owner, std::string thread) {
      lines.push_back({each.who.owner, each.who.thread, each.name, std::move(owner), std::move(thread),
                       each.is_in_circle ? "yes" : "-"});
    };
    if (each.holders.empty()) line("-", "-");
    for (const auto& holder : each.holders) line(holder.owner, or_dash(holder.thread));
  }
  write_table(out, lines);
}

json json_of(const lock_info& lock) {
  const auto token = known_token(lock);
  return {{"name", lock.name.view()},
          {"token", token ? json(token->value()) : json{}},
          {"owner", or_null(lock.owner)},
          {"thread", or_null(lock.thread)},
          {"held_for_us", microseconds(lock.held_for)},
          {"expires_in_us", microseconds(lock.expires_in)},
          {"held_by_transaction", lock.held_by_transaction},
          {"sharers", lock.sharers},
          {"note", lock.note}};
}

json json_of(const std::vector<lock_info>& all) {
  return array_of(all, [](const lock_info& each) { return json_of(each); });
}

json json_of(const std::vector<waiter_info>& queue) {
  return array_of(queue, [](const waiter_info& each) -> json {
    return {{"name", each.name.view()},
            {"ticket", each.ticket},
            {"owner", each.owner},
            {"thread", each.thread},
            {"waits_for_us", microseconds(each.age)},
            {"note", each.note}};
  });
}

json json_of(const std::vector<wait_edge>& all) {
  const auto of_holder = [](const party& one) -> json {
    return {{"owner", or_null(one.owner)}, {"thread", or_null(one.thread)}};
  };
  return array_of(all, [&](const wait_edge& each) -> json {
    return {{"owner", each.who.owner},
            {"thread", each.who.thread},
            {"name", each.name},
            {"holders", array_of(each.holders, of_holder)},
            {"in_circle", each.is_in_circle}};
  });
}

json json_of(const situation& seen) {
  auto all = json_of(seen.holder.value_or(lock_info{.name = seen.name}));
  if (!seen.holder) all["note"] = nullptr;
  all["waiters"] = json_of(seen.queue);
  if (!seen.sharers.empty()) all["holders"] = json_of(seen.sharers);
  return all;
}

}  // namespace rowlock::command
