#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/url.hpp"

namespace rowlock::test {

/// A connection to Redis. Throws std::runtime_error if there is no answer within two seconds, or if it is an error.
class redis_connection {
 public:
  explicit redis_connection(const server_address& to);

  /// The answer as text; empty: nil.
  std::string run(const std::vector<std::string_view>& words) const;

 private:
  std::unique_ptr<redisContext, void (*)(redisContext*)> context_;
};

}  // namespace rowlock::test
