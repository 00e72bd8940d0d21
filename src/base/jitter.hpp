#pragma once

namespace rowlock::inline v1::base {

/// A random number in [0, 1), to keep waiters out of step. Not for ids.
double jitter() noexcept;

}  // namespace rowlock::inline v1::base
