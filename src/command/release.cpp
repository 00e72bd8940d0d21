#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

#include "base/text.hpp"
#include "command/database.hpp"
#include "command/output.hpp"
#include "command/question.hpp"
#include "command/situation.hpp"

namespace rowlock::command {

namespace {

std::string question_about(const situation& seen) {
  std::ostringstream out;
  write(out, seen);
  out << "\nFree it?";
  return out.str();
}

/// If a token is given, keeps only the holder with that token.
situation only(situation seen, std::int64_t token) {
  if (token == 0 || !seen.holder) return seen;
  if (seen.holder->sharers == 0) seen.sharers = {*seen.holder};
  const auto found = std::find_if(seen.sharers.begin(), seen.sharers.end(),
                                  [&](const lock_info& each) { return each.token.value() == token; });
  seen.holder = found == seen.sharers.end() ? std::nullopt : std::optional{*found};
  if (seen.holder) seen.holder->sharers = 0;  // only this holder is freed
  seen.sharers.clear();
  return seen;
}

freeing free_it(client& locks, const situation& seen, question& asked) try {
  if (!seen.holder) return freeing::not_held;
  if (!asked.agrees(question_about(seen))) return freeing::not_confirmed;
  return free_as_seen(locks, *seen.holder);
} catch (const error& e) {
  if (e.outcome_is_unknown())
    say("it is not known whether the lock was freed; run rowlock show before you free it again");
  throw;
}

std::string what_was_freed(const lock_info& lock) {
  const auto token = known_token(lock);
  return fmt::format("freed {} of {}{}; its holder {}", base::quoted(lock.name.view()), owner_of(lock),
                     token ? fmt::format(", token {}", token->value()) : "",
                     lock.held_by_transaction
                         ? "is notified within seconds, and what its transaction on a server had done is undone"
                         : "is notified within a third of its lease, and may work on until then");
}

json json_of(const situation& seen, freeing result) {
  constexpr const char* reasons[] = {"", "not_held", "not_confirmed", "passed_on"};  // in the order of freeing
  auto out = json_of(seen);
  out["freed"] = result == freeing::freed;
  out["why_not"] = or_null(reasons[static_cast<std::size_t>(result)]);
  return out;
}

}  // namespace

int release(const options& given) {
  question asked{given, "release asks before it frees a lock"};
  auto locks = connect(given);
  const auto seen = only(look_at(locks, given.name), given.token);
  const auto result = free_it(locks, seen, asked);
  if (result != freeing::freed) say(why_not_freed(given.name, result));
  if (given.as_json)
    print(json_of(seen, result));
  else if (result == freeing::freed)
    std::cout << base::printable(what_was_freed(*seen.holder)) << '\n';
  return result == freeing::freed ? exit_status::done : exit_status::none;
}

}  // namespace rowlock::command
