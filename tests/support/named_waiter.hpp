#pragma once

#include <rowlock/waiter_info.hpp>

#include <string>

namespace rowlock::test {

/// The name that was given to holder::named(), which puts a word before it.
inline std::string name_in(const waiter_info& who) { return who.thread.substr(who.thread.find(' ') + 1); }

}  // namespace rowlock::test
