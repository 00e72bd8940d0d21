#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rowlock::test {

/// A TCP proxy before a server that can disturb the connection. It listens on its own port of this host, and forwards
/// data on its own thread. Every member may be called from any thread, and has taken effect when it returns.
class tcp_proxy {
 public:
  using bytes_test = std::function<bool(std::string_view)>;

  enum class action {
    cut_before,  ///< the request never reaches the server; both sides are reset
    cut_after,   ///< the server answers it; the answer is not passed on; both sides are reset when it is complete
    black_hole_before,  ///< the request never reaches the server; the connection forwards nothing more
    black_hole_after,   ///< the request reaches the server; the connection forwards nothing more
    hold,               ///< the request, and all data after it, waits for let_go()
  };

  tcp_proxy(const std::string& host, std::uint16_t port);
  tcp_proxy(const tcp_proxy&) = delete;
  tcp_proxy& operator=(const tcp_proxy&) = delete;
  ~tcp_proxy();

  std::uint16_t port() const noexcept;

  /// New connections go to another server of the same host.
  void lead_to(std::uint16_t port);
  /// Resets all connections.
  void cut();
  /// Accepts new connections and closes them at once.
  void refuse(bool on);
  /// Forwards nothing; accepts new connections, and does nothing with them. Afterwards, forwards the data that arrived
  /// meanwhile, as a repaired network does.
  void black_hole(bool on);
  /// Forwards requests but keeps the answers, as a network that fails in one direction. Afterwards, forwards the
  /// answers.
  void keep_answers(bool on);
  /// Delays all data from now on, in both directions.
  void delay(std::chrono::milliseconds time);

  /// Applies the action once, to the first request for which the test is true. A request is the data that a client has
  /// sent since the server's last answer. A new call replaces the previous one.
  void on_request(bytes_test request, action what, bytes_test answer_is_complete = ends_with_ready_for_query);
  /// Replaces one word by another of the same length in all later requests.
  void replace(std::string word, std::string by);
  /// Whether the action of on_request() has happened; for cut_after, whether the server has answered.
  bool has_acted() const noexcept;
  /// Forwards the held data, even if the client has disconnected, and then reports that to the server.
  void let_go();

  int connections() const noexcept;  ///< accepted so far
  /// The number of answers by servers to requests of clients.
  int round_trips() const noexcept;

  /// For on_request(): requests that contain all of these. The name of a prepared statement and its values are in them
  /// as plain text.
  static bytes_test contains(std::string first, std::string second = {});
  /// Whether an answer of PostgreSQL is complete, and a single statement is committed.
  static bool ends_with_ready_for_query(std::string_view answer);
  /// Whether an answer of MySQL or MariaDB is complete, to a statement that is not a prepare.
  static bool ends_as_mysql_answers(std::string_view answer);

 private:
  class loop;
  std::unique_ptr<loop> loop_;
};

}  // namespace rowlock::test
