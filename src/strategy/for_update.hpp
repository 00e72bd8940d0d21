#pragma once

#include "core/recent_names.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::strategies {

/// A transaction that stays open and keeps the row locked. Each lock has a session of its own.
///
///   idle --acquire: granted--> holding --release--> idle
///   after anything that throws the session is to be closed, which ends the transaction too
class for_update {
 public:
  /// `sql` must outlive it.
  explicit for_update(const dialect::table& sql) : sql_{sql} {}
  for_update(const for_update&) = delete;
  for_update& operator=(const for_update&) = delete;

  answer acquire(driver::session& on, const attempt& what, const driver::limits& until) const;
  /// Tells the server that its holder is alive.
  void beat(driver::session& on, const driver::limits& until) const;
  /// `acquisition` is of the client that lets go; others are told, where they can be.
  void release(driver::session& on, std::string_view name, std::string_view acquisition,
               const driver::limits& until) const;

 private:
  answer why_refused(driver::session& on, const attempt& what, const driver::limits& until) const;

  const dialect::table& sql_;
  mutable core::recent_names refused_;
};

}  // namespace rowlock::inline v1::strategies
