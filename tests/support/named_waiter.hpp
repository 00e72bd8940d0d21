#pragma once

#include <rowlock/waiter_info.hpp>

#include <string>

namespace rowlock::test {

/// What holder::named() was told: it adds a word in front.
inline std::string name_in(const waiter_info& who) { return who.thread.substr(who.thread.find(' ') + 1); }

}  // namespace rowlock::test
