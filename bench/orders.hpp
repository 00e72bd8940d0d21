#pragma once

#include <nlohmann/json.hpp>
#include <rowlock/options.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// How a worker gets the lock.
enum class way : std::uint8_t {
  rowlock,
  transaction,   ///< the lock's row is locked and changed in a transaction, which then ends
  session_lock,  ///< what the server has of its own
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

/// One line without its end. Errors may quote anything: bytes that are not UTF-8 are replaced.
template <class Content>
std::string to_line(const Content& content) {
  return nlohmann::json(content).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace bench
