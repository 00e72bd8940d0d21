#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace rowlock::inline v1::driver {

/// The other end of a socket.
struct other_end {
  bool is_local = false;  ///< a socket of this machine; otherwise TCP
  std::uint16_t port = 0;
};

/// Asks the server which local port of the client it sees.
using ask_local_port = std::function<std::uint16_t()>;

/// Calls `open`, which opens one connection without showing its socket, and finds the socket: it is the one that did
/// not exist before and leads to that other end. If another thread of the program has opened such a socket too, the
/// server is asked. If the server cannot answer (behind a proxy, on a local socket), `open` is called again. `target`
/// names the server: to each server, one connection is opened at a time. Throws what `open` throws, or
/// error{errc::connection_failed}.
int open_and_find_socket(const other_end& leads_to, const std::string& target,
                         const std::function<ask_local_port()>& open);

}  // namespace rowlock::inline v1::driver
