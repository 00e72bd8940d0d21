#pragma once

#include <rowlock/diagnosis.hpp>
#include <rowlock/lock_info.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/schema_status.hpp>
#include <rowlock/statistics.hpp>
#include <rowlock/waiter_info.hpp>

#include <optional>
#include <string_view>
#include <vector>

#include "engine/gateway/gateway.hpp"
#include "engine/lease/lock_registry.hpp"

namespace rowlock::inline v1::engine {

/// Answers what people ask of the database, and applies its schema.
class inspector {
 public:
  inspector(gateway& db, lock_registry& held) : db_{db}, held_{held} {}

  std::vector<lock_info> list(std::string_view prefix);
  std::optional<lock_info> find(const lock_name& name);
  std::vector<lock_info> sharers(const lock_name& name);
  std::vector<waiter_info> waiters(const lock_name& name);
  std::vector<waiter_info> list_waiters(std::string_view prefix);
  database_statistics statistics();

  void check();
  std::vector<finding> diagnose();
  void migrate();
  rowlock::schema_status schema_status();

 private:
  void amend(lock_info& info, std::string_view acquisition);

  gateway& db_;
  lock_registry& held_;
};

}  // namespace rowlock::inline v1::engine
