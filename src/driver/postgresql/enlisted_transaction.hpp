#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dialect/dialect.hpp"
#include "driver/enlisted_transaction.hpp"

namespace rowlock::inline v1::driver {

class postgresql_enlisted final : public enlisted_transaction {
 public:
  postgresql_enlisted(caller_transaction& tx, dialect::enlisted_texts texts) : tx_{tx}, texts_{std::move(texts)} {}

  bool takes_snapshot() override;
  std::int64_t session() const override { return tx_.session(); }
  lock_view take(const enlisted_target& at, const take_options& how) override;
  enlisted_result pin(const enlisted_target& at, std::string_view acquisition, duration lease) override;
  bool is_at(std::string_view installation) override;
  std::optional<lock_view> begin_optimistically(const enlisted_target& at) override;
  enlisted_result set(const enlisted_target& at, std::int64_t version) override;

 private:
  class savepoint;
  class brief_waits;

  lock_view take_waiting(const enlisted_target& at, const take_options& how);
  lock_view take_by(const std::string& sql, const enlisted_target& at, const take_options& how);

  caller_transaction& tx_;
  const dialect::enlisted_texts texts_;
};

}  // namespace rowlock::inline v1::driver
