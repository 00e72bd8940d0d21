#pragma once

#include <optional>
#include <string>

#include <rowlock/duration.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_name.hpp>

namespace rowlock::inline v1 {

/// A lock as the database has it; times are the database's.
struct lock_info {
  lock_name name;
  fencing_token token{};
  std::string owner{};   ///< the client: application:host:pid:id
  std::string thread{};  ///< the holder inside it
  std::optional<duration> held_for{};
  std::optional<duration> expires_in{};  ///< absent: held without a lease
  bool held_by_transaction = false;
  std::string note{};
};

}  // namespace rowlock::inline v1
