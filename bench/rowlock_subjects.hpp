#pragma once

#include <rowlock/options.hpp>

#include <memory>
#include <string>

#include "subject.hpp"

namespace bench {

/// client::acquire and held_lock::release; every lane has a name of its own, and all share one client.
std::unique_ptr<subject> make_rowlock_handles(const std::string& url, rowlock::strategy strategy,
                                              rowlock::client_options options = {});
/// The same with mutex::lock and mutex::unlock.
std::unique_ptr<subject> make_rowlock_mutexes(const std::string& url, rowlock::strategy strategy,
                                              rowlock::client_options options = {});

}  // namespace bench
