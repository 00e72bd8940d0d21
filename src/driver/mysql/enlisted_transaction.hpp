#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/boot_clock.hpp"
#include "driver/enlisted_transaction.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::driver {

class mysql_enlisted final : public enlisted_transaction {
 public:
  /// Both must outlive it.
  mysql_enlisted(caller_transaction& tx, const sheets::enlisted_texts& texts) : tx_{tx}, texts_{texts} {}

  bool keeps_snapshot() override;
  std::int64_t session() const override { return session_; }
  lock_view take(const enlisted_target& at, const take_options& how) override;
  enlisted_result pin(const enlisted_target& at, std::string_view acquisition, duration lease) override;
  bool begin_optimistically(std::string_view installation) override;
  void end_optimistically() override;
  enlisted_result set(const enlisted_target& at, std::int64_t version) override;

 private:
  class brief_waits;

  std::vector<row> lock(const enlisted_target& at, const take_options& how);
  bool can_wait();
  void require_transaction();
  void change(const enlisted_target& at, std::int64_t version, std::string_view note);

  caller_transaction& tx_;
  const sheets::enlisted_texts& texts_;
  const base::instant begin_ = base::now();
  std::int64_t session_ = 0;
};

}  // namespace rowlock::inline v1::driver
