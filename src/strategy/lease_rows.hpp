#pragma once

#include <optional>
#include <string_view>

#include "strategy/inspection.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::strategies {

/// What the row of a name says about an acquisition of it; nullopt: there is no row.
renewal standing_of(const std::optional<row_state>& row, std::string_view acquisition);

/// What all strategies that own by lease have in common: keeping and letting go by acquisition.
class lease_rows : public algorithm {
 public:
  /// `sql` must outlive it.
  explicit lease_rows(const dialect::table& sql) : sql_{sql} {}

  std::vector<renewal> renew(driver::session& on, std::span<const held> batch,
                             const driver::limits& until) const override;
  std::vector<renewal> extend(driver::session& on, std::span<const held> batch,
                              const driver::limits& until) const override;
  std::vector<letting_go> release(driver::session& on, std::span<const held> batch,
                                  const driver::limits& until) const override;
  std::vector<letting_go> linger(driver::session& on, std::span<const held> batch,
                                 const driver::limits& until) const override;

 protected:
  const dialect::table& sql() const noexcept { return sql_; }

 private:
  std::vector<renewal> prolong(dialect::verb how, driver::session& on, std::span<const held> batch,
                               const driver::limits& until) const;
  void explain_silence(driver::session& on, std::span<const held> batch, const driver::limits& until,
                       std::vector<renewal>& answers) const;
  std::vector<letting_go> let_go(dialect::verb how, driver::session& on, std::span<const held> batch,
                                 const driver::limits& until) const;
  void find_pinned(dialect::verb how, driver::session& on, std::span<const held> batch, const driver::limits& until,
                   std::vector<letting_go>& outcomes) const;

  const dialect::table& sql_;
};

}  // namespace rowlock::inline v1::strategies
