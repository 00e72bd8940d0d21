#pragma once

#include <functional>
#include <memory>

#include "driver/session.hpp"
#include "runtime/hint_source.hpp"

namespace rowlock::inline v1::runtime {

/// Where the database counts commits: looks at every one that others make.
class commit_watch final : public hint_source {
 public:
  struct hands {
    std::function<std::unique_ptr<driver::session>(const driver::limits&)> open;
    /// Something was committed: hints whoever may go now. false: it was nothing that those who wait here wait for.
    std::function<bool(driver::session&, const driver::limits&)> look;
    /// Nobody knows what was committed before: hints all.
    std::function<void()> begin;
    /// It is not live while somebody waits; once until it is.
    std::function<void(const error& why)> polling = [](const auto&) {};
  };

  explicit commit_watch(hands doing) : doing_{std::move(doing)} {}
  commit_watch(const commit_watch&) = delete;
  commit_watch& operator=(const commit_watch&) = delete;
  ~commit_watch() override { stop(); }

 private:
  void watch(const std::stop_token& stop) override;
  void failed(const std::exception& why) noexcept override;

  hands doing_;
};

}  // namespace rowlock::inline v1::runtime
