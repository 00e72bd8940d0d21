#include "command/inspection.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/database.hpp"
#include "command/durations.hpp"
#include "command/printable.hpp"
#include "command/table.hpp"

namespace rowlock::command {

namespace {

using json = nlohmann::ordered_json;

json seconds(const std::optional<duration>& d) { return d ? json(std::chrono::duration<double>{*d}.count()) : json{}; }

json json_of(const lock_info& lock) {
  return {{"name", lock.name.view()},
          {"token", lock.token.value()},
          {"owner", lock.owner},
          {"thread", lock.thread},
          {"held_for_s", seconds(lock.held_for)},
          {"expires_in_s", seconds(lock.expires_in)},
          {"held_by_transaction", lock.held_by_transaction},
          {"note", lock.note}};
}

json json_of(const std::vector<waiter_info>& queue) {
  auto all = json::array();
  for (const auto& each : queue)
    all.push_back(
        {{"ticket", each.ticket}, {"owner", each.owner}, {"thread", each.thread}, {"waits_for_s", seconds(each.age)}});
  return all;
}

/// As json_of(lock), so that programs need to know one shape only.
json json_of_nobody(std::string_view name) {
  return {{"name", name},
          {"token", nullptr},
          {"owner", nullptr},
          {"thread", nullptr},
          {"held_for_s", nullptr},
          {"expires_in_s", nullptr},
          {"held_by_transaction", false},
          {"note", nullptr}};
}

std::string text_of(const std::optional<duration>& d) { return d ? format_duration(*d) : "-"; }

// On a server the owner's transaction has not committed who it is.
std::string owner_of(const lock_info& lock) {
  return lock.owner.empty() && lock.held_by_transaction ? "held by a transaction" : lock.owner;
}

std::string expiry_of(const lock_info& lock) {
  if (lock.expires_in) return "in " + format_duration(*lock.expires_in);
  return lock.held_by_transaction ? "not by the clock: held by a transaction" : "not by the clock";
}

table_line line_of(const lock_info& lock) {
  return {printable(lock.name.view()), std::to_string(lock.token.value()), text_of(lock.held_for),
          text_of(lock.expires_in),    printable(owner_of(lock)),          printable(lock.note)};
}

table_line line_of(const waiter_info& waiter) {
  return {std::to_string(waiter.ticket), format_duration(waiter.age), printable(waiter.owner),
          printable(waiter.thread)};
}

void print_details(const lock_info& lock) {
  const auto field = [](std::string_view title, std::string_view value) {
    std::cout << fmt::format("{:9} {}\n", title, printable(value));
  };
  field("name", lock.name.view());
  field("token", std::to_string(lock.token.value()));
  if (!lock.owner.empty()) field("owner", lock.owner);
  if (!lock.thread.empty()) field("thread", lock.thread);
  field("held for", text_of(lock.held_for));
  field("expires", expiry_of(lock));
  if (!lock.note.empty()) field("note", lock.note);
}

void print_queue(const std::vector<waiter_info>& queue) {
  std::vector<table_line> lines{{"TICKET", "AGE", "OWNER", "THREAD"}};
  for (const auto& each : queue) lines.push_back(line_of(each));
  print_table(lines);
}

/// Who has a lock, and who wants it.
struct situation {
  std::optional<lock_info> holder{};
  std::vector<waiter_info> queue{};
};

// The queue first: whoever moves up between the two looks is seen twice rather than not at all, and once is taken away.
situation look_at(client& locks, const std::string& name) {
  situation seen{.queue = locks.waiters(name)};
  seen.holder = locks.find(name);
  if (seen.holder)
    std::erase_if(seen.queue, [&](const waiter_info& each) {
      return each.owner == seen.holder->owner && each.thread == seen.holder->thread;
    });
  return seen;
}

json json_of(const situation& seen, std::string_view name) {
  if (!seen.holder && seen.queue.empty()) return nullptr;
  auto all = seen.holder ? json_of(*seen.holder) : json_of_nobody(name);
  all["waiters"] = json_of(seen.queue);
  return all;
}

void print(const situation& seen, const std::string& name) {
  if (seen.holder)
    print_details(*seen.holder);
  else
    say("nobody holds \"" + name + '"');
  if (seen.queue.empty()) return;
  if (seen.holder) std::cout << '\n';
  print_queue(seen.queue);
}

}  // namespace

int list(const options& given) {
  auto locks = connect(given);
  const auto held = locks.list(given.prefix);
  if (given.as_json) {
    auto all = json::array();
    for (const auto& lock : held) all.push_back(json_of(lock));
    std::cout << all.dump(2) << '\n';
  } else if (!held.empty()) {
    std::vector<table_line> lines{{"NAME", "TOKEN", "HELD", "EXPIRES", "OWNER", "NOTE"}};
    for (const auto& lock : held) lines.push_back(line_of(lock));
    print_table(lines);
  }
  return exit_status::done;
}

int show(const options& given) {
  auto locks = connect(given);
  const auto seen = look_at(locks, given.name);
  if (given.as_json)
    std::cout << json_of(seen, given.name).dump(2) << '\n';
  else
    print(seen, given.name);
  return seen.holder ? exit_status::done : exit_status::not_held;
}

}  // namespace rowlock::command
