#pragma once

#include <rowlock/error.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "driver/backend.hpp"
#include "runtime/alarm.hpp"
#include "runtime/hint_source.hpp"

namespace rowlock::inline v1::runtime {

/// Hears on a connection of its own what other clients tell: names that this client may have now. Opened by the first
/// who waits, and again when it breaks.
///
///   connecting --open, ring, and the ring is heard--> live --the connection ends--> connecting
///              --not heard: somebody stands in between, as PgBouncer does--> unavailable, and asked again later
class listening final : public hint_source {
 public:
  struct hands {
    std::function<std::unique_ptr<driver::listener>(const driver::limits&)> open;
    /// Tells this client itself, on another connection.
    std::function<void(const driver::limits&)> ring;
    std::function<void(const std::string& name)> heard;
    /// Nobody knows what was told before: hints all.
    std::function<void()> begin;
    /// It is not live any more, or not yet.
    std::function<void()> end;
    /// Said once.
    std::function<void(const std::string& sentence)> warn;
    /// It is not live while somebody waits; once until it is.
    std::function<void(const error& why)> polling = [](const auto&) {};
  };

  listening(hands doing, duration longest_call) : doing_{std::move(doing)}, longest_call_{longest_call} {}
  listening(const listening&) = delete;
  listening& operator=(const listening&) = delete;
  ~listening() override { stop(); }

 private:
  void watch(const std::stop_token& stop) override;
  void failed(const std::exception& why) noexcept override;
  duration recovery(int failures) const noexcept override;
  void interrupt() noexcept override { alarm_.arm(core::instant::min()); }

  void check(driver::listener& line, const std::stop_token& stop);
  bool take_in(driver::listener& line) const;
  void attend(driver::listener& line, const std::stop_token& stop);
  void report(const std::string& why);
  driver::limits limits(const std::stop_token& stop) const;

  hands doing_;
  const duration longest_call_;
  alarm alarm_;
  // Of its thread:
  bool is_available_ = true;
  bool was_reported_ = false;
  std::optional<core::instant> down_since_{};
};

}  // namespace rowlock::inline v1::runtime
