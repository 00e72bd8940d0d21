#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/gateway/gateway.hpp"
#include "engine/lease/lock_registry.hpp"
#include "engine/maintenance.hpp"
#include "store/leases.hpp"

namespace rowlock::inline v1::engine {

/// Renews all leases that are due, in one step, and then all shares, in another. A lease that it cannot renew is lost
/// by the watchdog, not by it.
class renewer final : public maintenance::task {
 public:
  renewer(gateway& db, lock_registry& held, lease_listener& to) : db_{db}, held_{held}, listener_{to} {}

  base::instant next_due() override;
  void run(const driver::limits& until) noexcept override;

 private:
  std::vector<lease_ptr> due(base::instant now);
  enum class kind : std::uint8_t { lease, share };
  static std::vector<lease_ptr> claim(std::span<const lease_ptr> some, kind of);
  void renew(const std::vector<lease_ptr>& some, kind of, const driver::limits& until);
  void renew_passed_over(const driver::limits& until);
  base::instant leases_need_thread();
  void ask_for_renewal(std::span<const lease_ptr> some, const driver::limits& until);
  static void retry(std::span<const lease_ptr> some);
  void let_go_of(std::span<const lease_ptr> some);
  void take_answer(const lease_ptr& a, const store::renewal& answer, base::instant sent);

  gateway& db_;
  lock_registry& held_;
  lease_listener& listener_;
  std::vector<lease_ptr> passed_over_;  // shares whose answer was inconclusive
};

}  // namespace rowlock::inline v1::engine
