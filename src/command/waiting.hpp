#pragma once

#include <rowlock/client.hpp>
#include <rowlock/held_set.hpp>

#include <functional>
#include <optional>
#include <string>

#include "command/options.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

/// Works while the lock is held, and returns the exit status. nullopt: the lock was lost; acquire it again.
using work_under_lock = std::function<std::optional<int>(client& locks, held_set& held)>;

/// Waits for the lock, and for an unreachable database, as long as the options allow; then does the work. Reports on
/// the wait as the options say, and why the lock was not granted in time. A signal that would have ended rowlock ends
/// it, after the lock is released; so does the end of the last reader of the pipe `output`. Returns the exit status.
/// Throws error.
int with_lock(const options& given, const signals& taken, const work_under_lock& work, int output = -1);

/// The message about a lost lock, with the reason, and the option that caused it.
std::string loss_in_words(const held_set& held, const options& given);

/// Releases the lock, and reports a failure, except a loss that `is_reported` already. false: the lock was lost.
bool release_held(held_set& held, const options& given, bool is_reported);

}  // namespace rowlock::command
