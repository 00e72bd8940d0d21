#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dialect/dialect.hpp"
#include "driver/guest.hpp"

namespace rowlock::inline v1::driver {

class postgresql_guest final : public guest {
 public:
  postgresql_guest(caller_transaction& tx, dialect::guest_texts texts) : tx_{tx}, texts_{std::move(texts)} {}

  bool takes_snapshot() override;
  std::int64_t session() const override { return tx_.session(); }
  sight take(const place_in& at, const wish_in& how) override;
  finding pin(const place_in& at, std::string_view acquisition, duration lease) override;
  bool is_at(std::string_view home) override;
  std::optional<sight> begin_optimistically(const place_in& at) override;
  finding set(const place_in& at, std::int64_t version) override;

 private:
  class savepoint;
  class brief_waits;

  sight take_waiting(const place_in& at, const wish_in& how);
  sight take_by(const std::string& sql, const place_in& at, const wish_in& how);

  caller_transaction& tx_;
  const dialect::guest_texts texts_;
};

}  // namespace rowlock::inline v1::driver
