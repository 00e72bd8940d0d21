#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "command/database.hpp"
#include "command/output.hpp"
#include "command/signals.hpp"
#include "command/situation.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

bool is_watched() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1; }

/// Without its end.
std::string line_from(int device) {
  std::string line;
  char c = 0;
  for (;;) {
    const auto size = ::read(device, &c, 1);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0 || c == '\n') return line;
    line += c;
  }
}

/// The terminal, to ask whoever sits there. It is asked itself: what goes in and out of the program may be redirected.
class terminal {
 public:
  /// None where standard input or standard error is none.
  terminal();
  explicit operator bool() const noexcept { return static_cast<bool>(device_); }

  void show(const std::string& text) const;
  /// Whether the answer is yes. An empty line and the end of the input are a no.
  bool agrees(const std::string& question) const;

 private:
  descriptor device_;
};

terminal::terminal() : device_{is_watched() ? open_terminal() : descriptor{}} {}

void terminal::show(const std::string& text) const {
  for (std::string_view rest = text; !rest.empty();) {
    const auto size = ::write(device_.number(), rest.data(), rest.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
}

bool terminal::agrees(const std::string& question) const {
  show(question + " [y/N] ");
  const auto answer = line_from(device_.number());
  return answer == "y" || answer == "Y" || answer == "yes";
}

enum class outcome : std::uint8_t { freed, not_held, not_confirmed, passed_on };

std::string_view reason_of(outcome o) {
  switch (o) {
    case outcome::freed:
      return {};
    case outcome::not_held:
      return "not_held";
    case outcome::not_confirmed:
      return "not_confirmed";
    case outcome::passed_on:
      break;
  }
  return "passed_on";
}

bool agrees(const terminal& asked, const situation& seen) {
  std::ostringstream text;
  write(text, seen);
  asked.show(text.str() + '\n');
  return asked.agrees("Free it?");
}

/// Just what was seen, but for those who have begun to share it meanwhile.
outcome free_it(client& locks, const lock_info& seen) {
  try {
    if (locks.force_release(seen.name, token_to_free(seen))) return outcome::freed;
  } catch (const error& e) {
    if (e.outcome_is_unknown())
      say("it is not known whether it was freed; look who has it (rowlock show) before you free it again");
    throw;
  }
  return locks.find(seen.name) ? outcome::passed_on : outcome::not_held;
}

// Who has that token, if there is one.
situation only(situation seen, std::int64_t token) {
  if (token == 0 || !seen.holder) return seen;
  if (seen.holder->sharers == 0) {
    if (seen.holder->token.value() != token) seen.holder.reset();
    return seen;
  }
  const auto found = std::find_if(seen.sharers.begin(), seen.sharers.end(),
                                  [&](const lock_info& each) { return each.token.value() == token; });
  seen.holder = found == seen.sharers.end() ? std::nullopt : std::optional{*found};
  if (seen.holder) seen.holder->sharers = 0;  // it alone goes
  seen.sharers.clear();
  return seen;
}

outcome release(client& locks, const situation& seen, const std::optional<terminal>& asked) {
  if (!seen.holder) return outcome::not_held;
  if (asked && !agrees(*asked, seen)) return outcome::not_confirmed;
  return free_it(locks, *seen.holder);
}

std::string what_was_freed(const lock_info& lock) {
  const auto token = known_token(lock);
  const std::string and_token = token ? " with the token " + std::to_string(token->value()) : std::string{};
  return "freed \"" + std::string{lock.name.view()} + "\", which " + owner_of(lock) + " had" + and_token +
         "; its holder " +
         (lock.held_by_transaction
              ? "hears of it within seconds, and what its transaction on a server had done is undone"
              : "hears of it within a third of its lease, and may work on until then");
}

std::string why_not(const situation& seen, outcome o) {
  const auto quoted = '"' + seen.name + '"';
  if (o == outcome::not_confirmed) return quoted + " was not freed";
  if (o == outcome::passed_on) return quoted + " was not freed: another has it meanwhile";
  return seen.holder ? "nobody holds " + quoted + " any more" : "nobody holds " + quoted;
}

void tell(const situation& seen, outcome o, bool as_json) {
  if (o != outcome::freed) say(why_not(seen, o));
  if (as_json) {
    auto all = json_of(seen);
    all["freed"] = o == outcome::freed;
    all["why_not"] = or_null(std::string{reason_of(o)});
    print(all);
  } else if (o == outcome::freed) {
    std::cout << base::printable(what_was_freed(*seen.holder)) << '\n';
  }
}

}  // namespace

int release(const options& given) {
  std::optional<terminal> asked;
  if (!given.release.is_confirmed && !asked.emplace())
    throw usage_error{
        "release asks before it frees a lock, and there is no terminal to ask on; in a script, give --yes"};
  auto locks = connect(given);
  const auto seen = only(look_at(locks, given.name), given.release.token);
  const auto result = release(locks, seen, asked);
  tell(seen, result, given.as_json);
  return result == outcome::freed ? exit_status::done : exit_status::nobody;
}

}  // namespace rowlock::command
