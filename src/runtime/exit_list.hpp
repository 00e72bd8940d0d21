#pragma once

#include <memory>

namespace rowlock::inline v1::detail {
class client_impl;
}

namespace rowlock::inline v1::runtime {

/// The client is closed when the program ends, before those static objects go that were made until now: a driver may
/// need some, and a client in an older static object would outlive them.
void close_at_exit(const std::shared_ptr<detail::client_impl>& client);

}  // namespace rowlock::inline v1::runtime
