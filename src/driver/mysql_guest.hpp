#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "dialect/dialect.hpp"
#include "driver/boot_clock.hpp"
#include "driver/guest.hpp"

namespace rowlock::inline v1::driver {

class mysql_guest final : public guest {
 public:
  mysql_guest(caller_transaction& tx, dialect::guest_texts texts) : tx_{tx}, texts_{std::move(texts)} {}

  bool keeps_snapshot() override;
  std::int64_t session() const override { return session_; }
  sight take(const place_in& at, const wish_in& how) override;
  finding pin(const place_in& at, std::string_view acquisition, duration lease) override;
  bool is_at(std::string_view home) override;
  std::optional<sight> begin_optimistically(const place_in& at) override;
  finding set(const place_in& at, std::int64_t version) override;

 private:
  class brief_waits;

  std::vector<row> lock(const place_in& at, const wish_in& how);
  bool can_wait();
  void require_transaction();
  sight look(const place_in& at, const row& locked);
  void change(const place_in& at, std::int64_t version, std::string_view note);

  caller_transaction& tx_;
  const dialect::guest_texts texts_;
  const core::instant begin_ = now();
  std::int64_t session_ = 0;
};

}  // namespace rowlock::inline v1::driver
