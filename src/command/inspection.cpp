#include "command/inspection.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

#include "command/database.hpp"
#include "command/durations.hpp"
#include "command/printable.hpp"

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

std::string text_of(const std::optional<duration>& d) { return d ? format_duration(*d) : "-"; }

// On a server the owner's transaction has not committed who it is.
std::string owner_of(const lock_info& lock) {
  return lock.owner.empty() && lock.held_by_transaction ? "held by a transaction" : lock.owner;
}

std::string expiry_of(const lock_info& lock) {
  if (lock.expires_in) return "in " + format_duration(*lock.expires_in);
  return lock.held_by_transaction ? "not by the clock: held by a transaction" : "not by the clock";
}

using line = std::array<std::string, 6>;

line line_of(const lock_info& lock) {
  return {printable(lock.name.view()), std::to_string(lock.token.value()), text_of(lock.held_for),
          text_of(lock.expires_in),    printable(owner_of(lock)),          printable(lock.note)};
}

void print(const std::vector<line>& lines) {
  std::array<std::size_t, std::tuple_size_v<line>> widths{};
  for (const auto& each : lines)
    for (std::size_t i = 0; i < each.size(); ++i) widths[i] = std::max(widths[i], each[i].size());
  for (const auto& each : lines) {
    std::string out;
    for (std::size_t i = 0; i < each.size(); ++i) out += fmt::format("{:{}}  ", each[i], widths[i]);
    out.erase(out.find_last_not_of(' ') + 1);
    std::cout << out << '\n';
  }
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

}  // namespace

int list(const options& given) {
  auto locks = connect(given);
  const auto held = locks.list(given.prefix);
  if (given.as_json) {
    auto all = json::array();
    for (const auto& lock : held) all.push_back(json_of(lock));
    std::cout << all.dump(2) << '\n';
  } else if (!held.empty()) {
    std::vector<line> lines{{"NAME", "TOKEN", "HELD", "EXPIRES", "OWNER", "NOTE"}};
    for (const auto& lock : held) lines.push_back(line_of(lock));
    print(lines);
  }
  return exit_status::done;
}

int show(const options& given) {
  auto locks = connect(given);
  const auto lock = locks.find(given.name);
  if (given.as_json) {
    std::cout << (lock ? json_of(*lock) : json{}).dump(2) << '\n';
  } else if (lock) {
    print_details(*lock);
  } else {
    say("nobody holds \"" + given.name + '"');
  }
  return lock ? exit_status::done : exit_status::not_held;
}

}  // namespace rowlock::command
