#pragma once

#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <functional>
#include <stop_token>

#include "support/happening.hpp"

namespace rowlock::test {

/// A callback of lost() that does not return before it is let go, at the latest by the destructor.
struct stuck_callback {
  explicit stuck_callback(const held_lock& of)
      : callback{of.lost(), [this] {
                   entered.happens();
                   EXPECT_TRUE(let_go.within());
                 }} {}
  ~stuck_callback() { let_go.happens(); }

  happening entered;
  happening let_go;
  std::stop_callback<std::function<void()>> callback;
};

}  // namespace rowlock::test
