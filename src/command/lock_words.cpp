#include "command/lock_words.hpp"

#include "command/durations.hpp"

namespace rowlock::command {

std::optional<fencing_token> known_token(const lock_info& lock) {
  return lock.token.value() > 0 ? std::optional{lock.token} : std::nullopt;
}

std::optional<fencing_token> token_to_free(const lock_info& lock) {
  return lock.sharers > 0 ? std::nullopt : known_token(lock);
}

std::string token_or_dash(const lock_info& lock) {
  const auto token = known_token(lock);
  return token ? std::to_string(token->value()) : "-";
}

bool is_released(const lock_info& lock) { return lock.sharers == 0 && lock.thread == "(released)"; }

std::string duration_or_dash(const std::optional<duration>& d) { return d ? format_duration(*d) : "-"; }

}  // namespace rowlock::command
