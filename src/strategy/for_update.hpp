#pragma once

#include "base/recent_names.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::strategies {

/// A transaction that stays open and keeps the row locked. Each lock has a session of its own.
///
///   idle --acquire: granted--> holding --release--> idle
///   after anything that throws the session must be closed, which ends the transaction too
class for_update {
 public:
  answer acquire(const store::access& db, const acquire_args& what) const;
  /// Tells the server that the holder is alive.
  static void beat(const store::access& db);
  /// `acquisition` identifies the client that releases; others are notified where they can be.
  static void release(const store::access& db, std::string_view name, std::string_view acquisition);

 private:
  mutable base::recent_names refused_;
};

}  // namespace rowlock::inline v1::strategies
