#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/boot_clock.hpp"
#include "dialect/dialect.hpp"
#include "driver/enlisted_transaction.hpp"

namespace rowlock::inline v1::driver {

class mysql_enlisted final : public enlisted_transaction {
 public:
  mysql_enlisted(caller_transaction& tx, dialect::enlisted_texts texts) : tx_{tx}, texts_{std::move(texts)} {}

  bool keeps_snapshot() override;
  std::int64_t session() const override { return session_; }
  lock_view take(const enlisted_target& at, const take_options& how) override;
  enlisted_result pin(const enlisted_target& at, std::string_view acquisition, duration lease) override;
  bool is_at(std::string_view installation) override;
  std::optional<lock_view> begin_optimistically(const enlisted_target& at) override;
  enlisted_result set(const enlisted_target& at, std::int64_t version) override;

 private:
  class brief_waits;

  std::vector<row> lock(const enlisted_target& at, const take_options& how);
  bool can_wait();
  void require_transaction();
  lock_view look(const enlisted_target& at, const row& locked);
  void change(const enlisted_target& at, std::int64_t version, std::string_view note);

  caller_transaction& tx_;
  const dialect::enlisted_texts texts_;
  const base::instant begin_ = base::now();
  std::int64_t session_ = 0;
};

}  // namespace rowlock::inline v1::driver
