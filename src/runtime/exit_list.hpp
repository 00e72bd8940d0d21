#pragma once

#include <memory>

namespace rowlock::inline v1::detail {
class client_impl;
}

namespace rowlock::inline v1::driver {
struct backend;
}

namespace rowlock::inline v1::runtime {

/// The client is closed when the program ends, before those static objects go that were made until now: a driver may
/// need some, and a client in an older static object would outlive them. Each kind of database has its own: so all
/// clients are closed before those of the last kind go.
void close_at_exit(const std::shared_ptr<detail::client_impl>& client, const driver::backend& of);

}  // namespace rowlock::inline v1::runtime
