#pragma once

#include <functional>
#include <stop_token>

#include "runtime/hint_source.hpp"

namespace rowlock::inline v1::runtime {

/// Where nobody tells: asks, for all names that are waited for here at once, who may go now.
class queue_watch final : public hint_source {
 public:
  struct hands {
    std::function<void(const std::stop_token&)> look;
    /// When the next look is due.
    std::function<core::instant()> next;
  };

  explicit queue_watch(hands doing) : doing_{std::move(doing)} {}
  queue_watch(const queue_watch&) = delete;
  queue_watch& operator=(const queue_watch&) = delete;
  ~queue_watch() override { stop(); }

  void look_sooner() noexcept override;

 private:
  void watch(const std::stop_token& stop) override;

  hands doing_;
};

}  // namespace rowlock::inline v1::runtime
