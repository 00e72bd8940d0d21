#pragma once

#include <rowlock/held_set.hpp>

#include <functional>
#include <optional>
#include <string>

#include "command/options.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

/// Works while the lock is held, and gives the exit status. nullopt: the lock was lost, and is wanted again.
using work_under_lock = std::function<std::optional<int>(held_set& held)>;

/// Waits for the lock that the options name, and for a database that is away, as long as the options allow, and then
/// does the work. Meanwhile it reports on the wait if the options ask for that or a person watches, and at the end why
/// the lock was not granted in time, unless the options forbid it. A signal that would have ended rowlock ends it, once
/// nothing is held any more; so does the end of every reader of `output`, a pipe. Returns the exit status. Throws
/// error.
int with_lock(const options& given, const signals& taken, const work_under_lock& work, int output = -1);

/// That it was lost, and why, with the option that limits it.
std::string loss_in_words(const held_set& held, const options& given);

/// Releases the lock, and reports what went wrong, but for a loss that `is_reported`. false: it was lost.
bool let_go(held_set& held, const options& given, bool is_reported);

}  // namespace rowlock::command
