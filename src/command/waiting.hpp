#pragma once

#include <rowlock/held_set.hpp>

#include <functional>
#include <optional>
#include <string>

#include "command/options.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

/// What is done while the lock is held; the exit status. nullopt: it was lost, and is wanted again.
using work_under_lock = std::function<std::optional<int>(held_set& held)>;

/// Waits for the lock that the options name, and for a database that is away, as long as they say, and does the work
/// then. Says meanwhile what it waits for, if they ask for that or a person watches, and why the lock was not got in
/// time, unless they say not to. A signal that would have ended rowlock does so, once nothing is held any more; so does
/// the end of every reader of `output`, a pipe. The exit status. Throws error.
int with_lock(const options& given, const signals& taken, const work_under_lock& work, int output = -1);

/// Why it was lost, in words, with the option that says so.
std::string loss_in_words(const held_set& held, const options& given);

/// Releases the lock, and says what went wrong. false: it was lost.
bool let_go(held_set& held);

}  // namespace rowlock::command
