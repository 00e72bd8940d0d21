#include "command/situation.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "base/text.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

/// As json_of(lock), so that programs need to know one shape only.
json json_of_nobody(const std::string& name) {
  return {{"name", name},
          {"token", nullptr},
          {"owner", nullptr},
          {"thread", nullptr},
          {"held_for_us", nullptr},
          {"expires_in_us", nullptr},
          {"held_by_transaction", false},
          {"sharers", 0},
          {"note", nullptr}};
}

/// For a transaction, where the server tells whose it is.
bool is_session(const std::string& thread) { return thread.starts_with("session "); }

std::string expiry_of(const lock_info& lock) {
  if (lock.expires_in) return "in " + format_duration(*lock.expires_in);
  return lock.held_by_transaction ? "not by the clock: held by a transaction" : "not by the clock";
}

std::string permits_in_words(std::int64_t permits) {
  return permits == 1 ? "1 permit" : std::to_string(permits) + " permits";
}

std::string bond_of(const lock_info& lock) {
  if (is_released(lock)) return "a released lock, whose at_least keeps the name taken until it expires";
  if (lock.sharers > 0) return "leases, " + permits_in_words(lock.sharers);
  if (!lock.held_by_transaction) return "a lease";
  return "a transaction" + (is_session(lock.thread) ? " of " + lock.thread : std::string{});
}

table_line line_of(const waiter_info& waiter) {
  return {std::to_string(waiter.ticket), format_duration(waiter.age), base::printable(waiter.owner),
          base::printable(waiter.thread), base::printable(waiter.note)};
}

void write_sharers(std::ostream& out, const std::vector<lock_info>& all) {
  if (all.empty()) return;
  std::vector<table_line> lines{{"TOKEN", "HELD", "EXPIRES", "PERMITS", "OWNER", "THREAD", "NOTE"}};
  for (const auto& each : all)
    lines.push_back({token_or_dash(each), duration_or_dash(each.held_for), duration_or_dash(each.expires_in),
                     std::to_string(each.sharers), base::printable(each.owner), base::printable(each.thread),
                     base::printable(each.note)});
  out << '\n';
  write_table(out, lines);
}

void write_details(std::ostream& out, const lock_info& lock) {
  const auto field = [&](std::string_view title, std::string_view value) {
    out << fmt::format("{:9} {}\n", title, base::printable(value));
  };
  field("name", lock.name.view());
  field("token", token_or_dash(lock));
  field("owner", or_dash(lock.owner));
  field("thread", or_dash(lock.thread));
  field("held as", bond_of(lock));
  field("held for", duration_or_dash(lock.held_for));
  field("expires", expiry_of(lock));
  if (!lock.note.empty()) field("note", lock.note);
}

}  // namespace

// The queue first: whoever moves up between the two looks is seen twice rather than not at all, and once is taken away.
situation look_at(client& locks, const std::string& name) {
  situation seen{.name = name, .queue = locks.waiters(name)};
  seen.holder = locks.find(name);
  if (seen.holder && seen.holder->sharers > 0) seen.sharers = locks.sharers(name);
  if (seen.holder)
    std::erase_if(seen.queue, [&](const waiter_info& each) {
      return each.owner == seen.holder->owner && each.thread == seen.holder->thread;
    });
  return seen;
}

std::string owner_of(const lock_info& lock) {
  if (lock.sharers > 0) return lock.owner + ", " + permits_in_words(lock.sharers);
  if (is_released(lock)) return lock.owner + " (released; at_least keeps the name taken)";
  if (!lock.held_by_transaction) return lock.owner;
  if (lock.owner.empty()) return bond_of(lock);
  return is_session(lock.thread) ? lock.owner + ", " + bond_of(lock) : lock.owner;
}

table_line line_of(const lock_info& lock) {
  return {base::printable(lock.name.view()), token_or_dash(lock),
          duration_or_dash(lock.held_for),   duration_or_dash(lock.expires_in),
          base::printable(owner_of(lock)),   base::printable(lock.note)};
}

void write_queue(std::ostream& out, const std::vector<waiter_info>& queue) {
  if (queue.empty()) return;
  std::vector<table_line> lines{{"TICKET", "AGE", "OWNER", "THREAD", "NOTE"}};
  for (const auto& each : queue) lines.push_back(line_of(each));
  write_table(out, lines);
}

void write_queues(std::ostream& out, const std::vector<waiter_info>& queues) {
  if (queues.empty()) return;
  std::vector<table_line> lines{{"NAME", "TICKET", "AGE", "OWNER", "THREAD", "NOTE"}};
  for (const auto& each : queues) {
    lines.push_back(line_of(each));
    lines.back().insert(lines.back().begin(), base::printable(each.name.view()));
  }
  write_table(out, lines);
}

void write(std::ostream& out, const situation& seen) {
  if (seen.holder) write_details(out, *seen.holder);
  write_sharers(out, seen.sharers);
  if (seen.holder && !seen.queue.empty()) out << '\n';
  write_queue(out, seen.queue);
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

json json_of(const std::vector<waiter_info>& queue) {
  auto all = json::array();
  for (const auto& each : queue)
    all.push_back({{"name", each.name.view()},
                   {"ticket", each.ticket},
                   {"owner", each.owner},
                   {"thread", each.thread},
                   {"waits_for_us", microseconds(each.age)},
                   {"note", each.note}});
  return all;
}

json json_of(const situation& seen) {
  auto all = seen.holder ? json_of(*seen.holder) : json_of_nobody(seen.name);
  all["waiters"] = json_of(seen.queue);
  for (const auto& each : seen.sharers) all["holders"].push_back(json_of(each));
  return all;
}

}  // namespace rowlock::command
