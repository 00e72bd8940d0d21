#pragma once

#include <memory>

#include "driver/session.hpp"
#include "engine/queue/wakeup_source.hpp"

namespace rowlock::inline v1::engine {

/// For databases that count commits: looks at the queues after every commit of another client.
class commit_poller : public wakeup_source {
 private:
  void watch(const std::stop_token& stop) final;
  void failed(const std::exception& why) noexcept final;

  virtual std::unique_ptr<driver::session> open(const driver::limits& until) = 0;
  /// Something was committed: hints the waiters that may go now. false: nothing that anybody here waits for.
  virtual bool look(driver::session& on, const driver::limits& until) = 0;
  /// What was committed before is not known: hints all.
  virtual void began() = 0;
  /// It is not live while somebody waits; once until it is.
  virtual void polling(const error& why) noexcept = 0;
};

}  // namespace rowlock::inline v1::engine
