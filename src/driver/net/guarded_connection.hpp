#pragma once

#include <rowlock/export.hpp>

#include <exception>
#include <functional>
#include <new>
#include <string>

#include "driver/net/call_watchdog.hpp"

namespace rowlock::inline v1::driver {

/// A second descriptor of a socket, which the owner of the first descriptor cannot close. Close-on-exec.
class ROWLOCK_EXPORT socket_descriptor {
 public:
  /// Throws error{errc::connection_failed}.
  explicit socket_descriptor(int of);
  socket_descriptor(const socket_descriptor&) = delete;
  socket_descriptor& operator=(const socket_descriptor&) = delete;
  ~socket_descriptor();

  int number() const noexcept { return number_; }
  bool has_hung_up() const noexcept;

 private:
  int number_;
};

/// Describes a call to a server, for its errors.
struct call_description {
  const char* doing;     ///< completes the sentence "while …"
  bool writing = false;  ///< it may have changed something even if no answer arrives
};

/// The state of a connection to a server, and the time limits of calls on it. A watchdog cuts a call that is too late.
///
///   usable --a call was cut, the connection broke, die()--> dead: every call throws connection_failed, sends nothing
class ROWLOCK_EXPORT guarded_connection {
 public:
  /// `server` is its name for people; `lost` is called once, if the connection dies while the server may still be
  /// executing a call.
  guarded_connection(std::string server, call_watchdog& watchdog, int socket, std::function<void()> lost)
      : server_{std::move(server)}, watchdog_{watchdog}, socket_{socket}, lost_{std::move(lost)} {}
  guarded_connection(const guarded_connection&) = delete;
  guarded_connection& operator=(const guarded_connection&) = delete;

  /// `send` is one round trip. An exception of `send` is passed to `explain`, which throws, unless the call was cut.
  template <class Send, class Explain>
  auto call(const call_description& why, const limits& until, Send send, Explain explain) {
    begin(why, until);
    call_watchdog::call under_way{watchdog_, socket_.number(), until};
    try {
      auto out = send();
      // The watchdog cut the connection too late for this call, which was answered.
      if (under_way.end() != call_watchdog::reason::none) close_later();
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
  /// For a connection on which no call is under way: closing it is enough.
  void close_later() noexcept { is_dead_ = true; }
  /// For a connection whose server may not know yet that it is dead, and may wait for a lock or hold one.
  void die() noexcept;

  const std::string& server() const noexcept { return server_; }
  void rename(std::string server) { server_ = std::move(server); }

 private:
  void begin(const call_description& why, const limits& until);
  void throw_if_cut(call_watchdog::reason cut, const call_description& why);

  std::string server_;
  call_watchdog& watchdog_;
  socket_descriptor socket_;
  std::function<void()> lost_;
  bool is_dead_ = false;
};

}  // namespace rowlock::inline v1::driver
