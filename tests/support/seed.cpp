#include "support/seed.hpp"

#include <cstdlib>
#include <random>
#include <string>

namespace rowlock::test {

namespace {

bool is_used = false;

unsigned chosen() {
  const char* said = std::getenv("ROWLOCK_TEST_SEED");
  return said == nullptr ? std::random_device{}() : static_cast<unsigned>(std::stoul(said));
}

}  // namespace

unsigned seed() {
  static const unsigned the = chosen();
  is_used = true;
  return the;
}

bool is_seed_used() noexcept { return is_used; }

}  // namespace rowlock::test
