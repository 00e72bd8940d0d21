#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <rowlock/options.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/child_process.hpp"

namespace bench {

namespace test = rowlock::test;

/// How a worker gets the lock.
enum class way : std::uint8_t {
  rowlock,
  transaction,   ///< the lock's row is locked and changed in a transaction, which then ends
  session_lock,  ///< what the server has of its own
  upsert,        ///< the row is taken by an upsert, sent until it succeeds, and vacated by an update
};

/// What a worker is about: the first line of its input. Not in its arguments, which everybody on the host can read.
struct orders {
  bench::way way = way::rowlock;
  rowlock::strategy strategy = rowlock::strategy::unique_index;
  rowlock::fairness fairness = rowlock::fairness::unfair;
  std::int64_t lease_s = 30;
  bool renew = true;
  std::string lock = "bench/hot";
  std::string url{};
  std::string prefix{};     ///< of the tables
  bool is_counted = false;  ///< whether the worker counts what it does, where the database cannot
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(orders, way, strategy, fairness, lease_s, renew, lock, url, prefix, is_counted)

/// What a worker answers, a line for each thing that it was told to do; of the fields those that it was asked for.
struct answer {
  std::string error{};
  std::int64_t at_ns = 0;  ///< by the clock that all processes of a host share
  std::int64_t took_ns = 0;
  std::vector<std::uint32_t> waits_ns{};
  std::size_t connections = 0;
  std::size_t statements = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(answer, error, at_ns, took_ns, waits_ns, connections, statements)

/// Another process of this very program, which takes a lock and lets it go as it is told. It ends with this object.
///
///   take       answers that it begins, and again (at_ns) when it has the lock
///   let_go US  holds it for so many microseconds more, and answers when (at_ns) it began to let go
///   cycle US   takes it and lets it go for so many microseconds, and answers how long it waited each time (waits_ns)
///   count      answers what it did so far (connections, statements), where the orders say that it is counted
class worker_process {
 public:
  /// It is ready when it has answered once.
  explicit worker_process(const orders& what);
  worker_process(const worker_process&) = delete;
  worker_process& operator=(const worker_process&) = delete;
  ~worker_process();

  pid_t id() const noexcept { return process_.pid(); }
  /// Ends its input, and does not wait for it.
  void stop() const noexcept { process_.close_input(); }

  void tell(std::string_view what) const { process_.send(what); }
  /// Throws std::runtime_error where it failed, died, or says nothing for a minute.
  answer hear();
  /// Waits that long. Throws where it said something meanwhile.
  void stay_silent_for(std::chrono::milliseconds length);

 private:
  test::child_process process_;
};

/// Workers with the same orders, all of them ready.
class crew {
 public:
  crew(const orders& what, std::size_t size);
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  ~crew();

  worker_process& operator[](std::size_t number) { return members_[number]; }
  std::vector<pid_t> ids() const;

  /// Tells all of them, and gives what each answered.
  std::vector<answer> ask(std::string_view what);

 private:
  std::deque<worker_process> members_;
};

/// In which this program is one of the processes of a case that has several.
inline constexpr const char* worker_role = "worker";

/// Does what it reads on standard input (see worker_process) until that ends, and answers on standard output. Dies with
/// the process that started it. The exit status.
int work();

}  // namespace bench
