#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "recorder.hpp"
#include "sale.hpp"

namespace flash_sale {

/// What a worker is to do: the first line of its input. Not in its arguments, which everybody on the host can read.
/// Its next line of input starts it.
struct task {
  std::size_t process = 0;
  flash_sale::sale sale;
  std::string strategy;
  std::string shop_url;
  std::string locks_url;
  /// How many purchases each thread remembers for the timeline: the latest ones.
  std::size_t recorded = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(task, process, sale, strategy, shop_url, locks_url, recorded)

/// What a worker has to say, a line each: that it is ready, and then either what happened or what went wrong.
struct message {
  bool ready = false;
  std::string error{};
  std::size_t bought = 0;
  /// How long each lock was waited for.
  std::vector<std::int64_t> waits_us{};
  /// Of each thread; empty where nothing was recorded.
  std::vector<std::vector<purchase>> purchases{};
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(message, ready, error, bought, waits_us, purchases)

}  // namespace flash_sale
