#include "way.hpp"

#include <stdexcept>

#include "in_transactions.hpp"
#include "strategies.hpp"
#include "with_mutex.hpp"

namespace flash_sale {
namespace {

class without_protection final : public way {
 public:
  outcome buy(shop& from, const request& what, message& /*mine*/) override { return flash_sale::buy(from, what); }
};

}  // namespace

std::unique_ptr<way> make_way(const std::string& run, const std::string& locks_url) {
  if (run == without_lock) return std::make_unique<without_protection>();
  if (run == by_lock_in) return buying_with_lock_in(locks_url);
  if (run == by_optimism) return buying_optimistically(locks_url);
  if (run == unlocked_too_early) return writing_with_mutex(locks_url, letting_go::before_commit);
  if (run == unlocked_after_commit) return writing_with_mutex(locks_url, letting_go::after_commit);
  if (const auto strategy = find_strategy(run)) return buying_with_mutex(locks_url, *strategy);
  throw std::invalid_argument{"there is no way to buy that is called " + run};
}

}  // namespace flash_sale
