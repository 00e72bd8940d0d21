#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rowlock::test {

/// A way to a server that can be disturbed. It listens on a port of its own on this host and passes on what comes; a
/// thread of its own does so. Every member may be called from any thread, and has taken effect when it returns.
class tcp_proxy {
 public:
  using bytes_test = std::function<bool(std::string_view)>;

  enum class action {
    cut_before,  ///< the request never reaches the server; both sides are reset
    cut_after,   ///< the server answers it; the answer is not passed on; both sides are reset when it is complete
    black_hole_before,  ///< the request never reaches the server, and nothing goes either way on that connection again
    black_hole_after,   ///< the request reaches the server, after that nothing goes either way
    hold,               ///< the request, and what follows it, waits for let_go()
  };

  tcp_proxy(const std::string& host, std::uint16_t port);
  tcp_proxy(const tcp_proxy&) = delete;
  tcp_proxy& operator=(const tcp_proxy&) = delete;
  ~tcp_proxy();

  std::uint16_t port() const noexcept;

  /// Resets all connections.
  void cut();
  /// New connections are accepted and closed at once.
  void refuse(bool on);
  /// Nothing goes either way; new connections are accepted, and nothing follows. When it ends, what came meanwhile is
  /// passed on, as by a network that is whole again.
  void black_hole(bool on);
  /// Requests reach the server, and their answers do not come, as by a network that loses what goes one way. When it
  /// ends, they come.
  void keep_answers(bool on);
  /// What comes from now on is passed on that much later, either way.
  void delay(std::chrono::milliseconds time);

  /// Does that to the first request for which the test is true. A request is what a client has sent since the server's
  /// last word to it. Only the last one that was asked for counts, and it happens once.
  void on_request(bytes_test request, action what, bytes_test answer_is_complete = ends_with_ready_for_query);
  /// From now on the server reads one word for another of the same length.
  void replace(std::string word, std::string by);
  /// Whether what on_request asked for has happened; with cut_after, whether the server has answered.
  bool has_acted() const noexcept;
  /// Passes on what is held, also where the client has gone meanwhile; then the server learns of that.
  void let_go();

  int connections() const noexcept;  ///< that were accepted so far
  /// How often a server has spoken after its client had.
  int round_trips() const noexcept;

  /// For on_request: requests that have all of this in them. A prepared statement's name and its values are there as
  /// they are.
  static bytes_test contains(std::string first, std::string second = {});
  /// Where an answer of PostgreSQL ends, and a statement of its own has been committed.
  static bool ends_with_ready_for_query(std::string_view answer);
  /// Where one of MySQL or MariaDB does, to a statement that is not being prepared.
  static bool ends_as_mysql_answers(std::string_view answer);

 private:
  class loop;
  std::unique_ptr<loop> loop_;
};

}  // namespace rowlock::test
