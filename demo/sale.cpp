#include "sale.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace flash_sale {
namespace {

std::vector<std::int64_t> shuffled_users(const sale& sale, std::mt19937_64& random) {
  std::vector<std::int64_t> users(sale.users());
  std::iota(users.begin(), users.end(), std::int64_t{1});
  std::shuffle(users.begin(), users.end(), random);
  return users;
}

/// Where the second click of the `place`-th user goes. It takes turns, so that every process is asked equally often and
/// both clicks stand at about the same place in their queues.
std::size_t second_process(std::size_t place, std::size_t processes) {
  if (processes == 1) return 0;
  const auto turn = place / processes;
  return (place + 1 + turn % (processes - 1)) % processes;
}

}  // namespace

std::vector<request> requests_for(const sale& sale, std::size_t process) {
  std::mt19937_64 random{sale.seed};
  std::uniform_int_distribution<int> thinking{50, 300};
  std::vector<request> requests;
  const auto users = shuffled_users(sale, random);
  for (std::size_t place = 0; place < users.size(); ++place) {
    const request first{users[place], std::chrono::microseconds{thinking(random)}};
    const request second{users[place], std::chrono::microseconds{thinking(random)}};
    if (place % sale.processes == process) requests.push_back(first);
    if (second_process(place, sale.processes) == process) requests.push_back(second);
  }
  return requests;
}

}  // namespace flash_sale
