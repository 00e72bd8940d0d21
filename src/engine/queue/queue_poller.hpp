#pragma once

#include <stop_token>

#include "engine/queue/wakeup_source.hpp"

namespace rowlock::inline v1::engine {

/// For databases that do not notify: asks, for all names that this client waits for at once, who may go.
class queue_poller : public wakeup_source {
 public:
  void look_sooner() noexcept override;

 private:
  void watch(const std::stop_token& stop) final;

  virtual void look(const std::stop_token& stop) = 0;
  /// When the next look is due.
  virtual base::instant next_look() = 0;
};

}  // namespace rowlock::inline v1::engine
