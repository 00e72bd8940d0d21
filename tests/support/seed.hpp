#pragma once

namespace rowlock::test {

/// Of every random choice that a test makes: ROWLOCK_TEST_SEED, or another one in each run. A test that fails after it
/// was asked for names it.
unsigned seed();
bool is_seed_used() noexcept;

}  // namespace rowlock::test
