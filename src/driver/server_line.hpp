#pragma once

#include <rowlock/export.hpp>

#include <exception>
#include <functional>
#include <new>
#include <string>

#include "driver/line_cutter.hpp"
#include "driver/socket_descriptor.hpp"

namespace rowlock::inline v1::driver {

/// What a call to a server is for.
struct purpose {
  const char* doing;     ///< completes the sentence "while …"
  bool writing = false;  ///< something may have become of it even if no answer comes
};

/// The connection to a server, as far as the time limits of calls are concerned.
///
///   usable --a call was cut, the connection broke, die()--> dead: every call throws connection_failed, sends nothing
class ROWLOCK_EXPORT server_line {
 public:
  /// `server` is its name for people; `lost` is called once, where the server may be at it still when the line dies.
  server_line(std::string server, line_cutter& cutter, int socket, std::function<void()> lost)
      : server_{std::move(server)}, cutter_{cutter}, socket_{socket}, lost_{std::move(lost)} {}
  server_line(const server_line&) = delete;
  server_line& operator=(const server_line&) = delete;

  /// `send` is one round trip. What it throws goes to `explain`, which throws, unless the call was cut.
  template <class Send, class Explain>
  auto call(const purpose& why, const limits& until, Send send, Explain explain) {
    begin(why, until);
    line_cutter::call under_way{cutter_, socket_.number(), until};
    try {
      auto out = send();
      // Too late for this one, which was answered.
      if (under_way.end() != line_cutter::reason::none) close_later();
      return out;
    } catch (const std::bad_alloc&) {
      die();
      throw;
    } catch (const std::exception& e) {
      throw_if_cut(under_way.end(), why);
      explain(e);
      throw;
    }
  }

  bool looks_alive() noexcept;
  int descriptor() const noexcept { return socket_.number(); }
  bool is_dead() const noexcept { return is_dead_; }
  /// Nothing is under way on it: closing it is enough.
  void close_later() noexcept { is_dead_ = true; }
  /// The server may not know yet, and be waiting for a lock, or holding some.
  void die() noexcept;

  const std::string& server() const noexcept { return server_; }
  void rename(std::string server) { server_ = std::move(server); }

 private:
  void begin(const purpose& why, const limits& until);
  void throw_if_cut(line_cutter::reason cut, const purpose& why);

  std::string server_;
  line_cutter& cutter_;
  socket_descriptor socket_;
  std::function<void()> lost_;
  bool is_dead_ = false;
};

}  // namespace rowlock::inline v1::driver
