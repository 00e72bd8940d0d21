#pragma once

namespace rowlock::test {

/// The seed of all random choices of a test: ROWLOCK_TEST_SEED, or a new one in each run. A test that fails after a
/// call prints it.
unsigned seed();
bool is_seed_used() noexcept;

}  // namespace rowlock::test
