#pragma once

#include <rowlock/error.hpp>

#include <exception>
#include <optional>
#include <stop_token>
#include <string>

#include "driver/session.hpp"
#include "engine/queue/wakeup_source.hpp"

namespace rowlock::inline v1::engine {

/// Listens on a connection of its own. Opened by the first waiter, and again when it breaks.
///
///   connecting --open, ring, and the ring is heard--> live --the connection ends--> connecting
///              --it cannot work here--> unavailable, and tried again later
class listening_source : public wakeup_source {
 protected:
  /// `complaint` begins the sentence that warns of it, and the cause follows.
  listening_source(duration longest_call, std::string complaint)
      : longest_call_{longest_call}, complaint_{std::move(complaint)} {}

  duration longest_call() const noexcept { return longest_call_; }
  driver::limits limits(const std::stop_token& stop) const;
  void goes_live();
  void goes_quiet() noexcept;

 private:
  void watch(const std::stop_token& stop) final;
  void failed(const std::exception& why) noexcept final;
  duration recovery(int failures) const noexcept final;

  /// As watch().
  virtual void listen(const std::stop_token& stop) = 0;
  /// It is live. What was sent before is not known: hints all.
  virtual void began() = 0;
  /// It is not live any more, or not yet.
  virtual void ended() noexcept = 0;
  /// Called once.
  virtual void warn(const std::string& sentence) = 0;
  /// It is not live while somebody waits; once until it is.
  virtual void polling(const error& why) noexcept = 0;

  void report(const std::string& why);

  const duration longest_call_;
  const std::string complaint_;
  // Of its thread:
  bool is_available_ = true;
  bool was_reported_ = false;
  std::optional<base::instant> down_since_{};
};

}  // namespace rowlock::inline v1::engine
