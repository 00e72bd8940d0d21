#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/enlisted_transaction.hpp"
#include "driver/postgresql/caller_sessions.hpp"
#include "driver/table_place.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::driver {

class postgresql_enlisted final : public enlisted_transaction {
 public:
  /// All must outlive it. `may_prepare`: the caller's session is one session of the server, as far as the client knows.
  postgresql_enlisted(caller_transaction& tx, placed_texts& texts, caller_sessions& sessions, bool may_prepare)
      : tx_{tx}, texts_{texts}, sessions_{sessions}, may_prepare_{may_prepare} {}

  bool takes_snapshot() override;
  std::int64_t session() const override { return tx_.session(); }
  std::optional<std::int64_t> take_vacant(const enlisted_target& at, std::string_view note) override;
  lock_view take(const enlisted_target& at, const take_options& how) override;
  enlisted_result pin(const enlisted_target& at, std::string_view acquisition, duration lease) override;
  bool begin_optimistically(std::string_view installation) override;
  void end_optimistically() override;
  enlisted_result set(const enlisted_target& at, std::int64_t version) override;

 private:
  class savepoint;
  class brief_waits;
  using take_arguments = std::array<argument, 4>;
  enum class sending : std::uint8_t { whole, preparing, by_name };

  lock_view take_waiting(const take_arguments& asked, duration wait);
  lock_view taken(const row& found);
  void note_isolation(const cell& isolation);

  std::vector<row> begin_with(enlisted_statement which, std::span<const argument> asked);
  std::vector<row> send_together(enlisted_statement which, std::span<const argument> asked, sending how);
  std::vector<row> send_apart(enlisted_statement which, std::span<const argument> asked, sending how);
  sending sending_of(enlisted_statement which);
  const std::string& text_of(enlisted_statement which) const;
  std::string preparation(enlisted_statement which) const;
  std::string execution(enlisted_statement which, std::span<const argument> asked, sending how) const;
  void note_sent(enlisted_statement which, sending how);
  bool note_failed(enlisted_statement which, sending how, std::string_view sqlstate);

  caller_transaction& tx_;
  placed_texts& texts_;
  caller_sessions& sessions_;
  const bool may_prepare_;
};

}  // namespace rowlock::inline v1::driver
