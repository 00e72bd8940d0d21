#pragma once

#include <memory>
#include <string>

#include "base/alarm.hpp"
#include "driver/backend.hpp"
#include "engine/queue/listening_source.hpp"

namespace rowlock::inline v1::engine {

/// Listens for names that this client may have now. It cannot work where a pooler is in between, such as PgBouncer.
class notify_listener : public listening_source {
 public:
  explicit notify_listener(duration longest_call)
      : listening_source{longest_call, "LISTEN cannot be used, so waiting clients poll the server: "} {}

 private:
  void listen(const std::stop_token& stop) final;
  void interrupt() noexcept final { alarm_.arm(base::instant::min()); }

  virtual std::unique_ptr<driver::listener> open(const driver::limits& until) = 0;
  /// Notifies this client itself, on another connection.
  virtual void ring(const driver::limits& until) = 0;
  virtual void heard(const std::string& name) = 0;

  void check(driver::listener& line, const std::stop_token& stop);
  bool take_in(driver::listener& line);
  void attend(driver::listener& line, const std::stop_token& stop);

  base::alarm alarm_;
};

}  // namespace rowlock::inline v1::engine
