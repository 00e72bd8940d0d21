#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace flash_sale {

/// What is sold, and how many buy.
struct sale {
  std::size_t units = 1000;
  std::size_t processes = 4;
  std::size_t threads = 8;
  std::uint64_t seed = 1;

  /// More than there are units, so that the sale sells out.
  std::size_t users() const noexcept { return units + (units + 1) / 2; }
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(sale, units, processes, threads, seed)

struct request {
  std::int64_t user = 0;
  /// How long the business logic takes.
  std::chrono::microseconds thinking{};
};

/// What one process is asked, in this order. Every user clicks twice, and the two clicks reach two processes (if there
/// are two) at about the same time. The same seed gives the same requests.
std::vector<request> requests_for(const sale& sale, std::size_t process);

}  // namespace flash_sale
