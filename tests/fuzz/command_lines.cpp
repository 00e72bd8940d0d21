// The words of a command line, up to where the command would connect.

#include <algorithm>
#include <chrono>
#include <vector>

#include "command/options.hpp"
#include "fuzz/fuzz.hpp"

namespace rowlock::fuzz {

namespace {

using namespace std::chrono_literals;
using words = std::vector<std::string>;

words some_words(input& from) {
  words out{"rowlock"};
  if (from.ConsumeBool()) out.insert(out.end(), {"--database", std::string{"mysql://me:"} + secret + "@db/locks"});
  constexpr const char* known[] = {"run",       "hold",    "lead",   "migrate", "sweep",   "list",    "show",
                                   "waiters",   "release", "top",    "check",   "metrics", "guard",   "sql",
                                   "help",      "job",     "--",     "--lease", "--wait",  "-n",      "-w",
                                   "-E",        "--json",  "--once", "--every", "--force", "--token", "--busy-exit",
                                   "--also",    "-c",      "--fair", "--note",  "--quiet", "--graph", "--table-prefix",
                                   "--permits", "-s"};
  for (int i = from.ConsumeIntegralInRange(0, 12); i > 0; --i) {
    const auto which = from.ConsumeIntegralInRange<std::size_t>(0, 2 * std::size(known));
    auto word = which < std::size(known) ? known[which] : text(from);
    word.erase(std::find(word.begin(), word.end(), '\0'), word.end());  // a word ends there
    if (word.find(secret) != std::string::npos) word = "no secret";
    out.push_back(std::move(word));
  }
  return out;
}

void check(const command::options& given, const words& all) {
  const auto& lock = given.run.lock;
  expect(is_between(lock.lease, 100ms, 24h * 30), "a lease is within its bounds");
  expect(is_between(lock.at_least, 0s, 24h * 30), "at_least is within its bounds");
  expect(!lock.hold_limit || is_between(*lock.hold_limit, 100ms, 24h * 30), "hold_limit is within its bounds");
  expect(!given.run.wait || *given.run.wait >= 0s, "nobody waits for less than nothing");
  expect(given.run.busy_exit >= 0 && given.run.busy_exit <= 255, "a status is one");
  expect(given.run.permits >= 0 && given.token >= 0, "numbers are not negative");
  expect(!given.table_prefix.empty() && given.table_prefix.size() <= 32, "a prefix is one");
  const auto& command = given.run.command;
  if (given.what != command::subcommand::run && given.what != command::subcommand::lead) {
    expect(command.empty(), "only some have a command");
  } else if (given.run.shell_command.empty()) {
    expect(!command.empty() && command.size() < all.size(), "there is a command");
    expect(std::equal(command.rbegin(), command.rend(), all.rbegin()), "it is run to the letter");
  }
}

}  // namespace

void feed(input& from) {
  const auto all = some_words(from);
  std::vector<const char*> pointers;
  for (const auto& each : all) pointers.push_back(each.c_str());
  try {
    const auto given = command::parse_options(static_cast<int>(pointers.size()), pointers.data());
    if (given.answer) {
      expect(!given.answer->empty(), "an answer has words");
    } else {
      check(given, all);
    }
  } catch (const command::usage_error& e) {
    const std::string_view said{e.what()};
    expect(said.find("--help") != std::string_view::npos, "a complaint names the page to read", said);
    expect(said.find(secret) == std::string_view::npos, "a complaint shows no password", said);
  }
}

}  // namespace rowlock::fuzz
