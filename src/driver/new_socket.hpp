#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace rowlock::inline v1::driver {

/// What a socket's other end is like.
struct other_end {
  bool is_local = false;  ///< a socket of this machine; else TCP
  std::uint16_t port = 0;
};

/// Asks the server which port of ours it sees.
using ask_local_port = std::function<std::uint16_t()>;

/// Calls `open`, which opens one connection by means that do not tell its socket, and finds that: it is the one that
/// was not there before and leads there. Where another thread of the program opened such a one too, the server is
/// asked, and if it cannot tell (behind a proxy, on a local socket), `open` is called again. `target` names the server:
/// to each, one is opened at a time. Throws what `open` throws, or error{errc::connection_failed}.
int open_and_find_socket(const other_end& leads_to, const std::string& target,
                         const std::function<ask_local_port()>& open);

}  // namespace rowlock::inline v1::driver
