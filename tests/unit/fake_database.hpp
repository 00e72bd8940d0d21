#pragma once

#include <rowlock/events.hpp>
#include <rowlock/options.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/url.hpp"
#include "driver/backend.hpp"
#include "engine/events/telemetry.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/identity.hpp"

namespace rowlock::test {

inline std::string text_of(const driver::argument& a) { return std::string{std::get<std::string_view>(a)}; }

/// What `inspect` answers about a name that is held by a lease of one second.
inline driver::row held_row(const std::string& name, const std::string& acquisition,
                            const std::string& owner = "owner") {
  const std::int64_t a_second = 1'000'000;
  const std::int64_t no = 0;
  return {name, std::int64_t{1}, owner, "thread", acquisition, no, a_second, {}, no, no};
}

/// A database that the test plays, and the gateway to it. The schema fits; what other statements answer, the test says.
class fake_database {
 public:
  using answer =
      std::function<std::vector<driver::row>(sheets::verb, std::span<const driver::request>, const driver::limits&)>;
  explicit fake_database(answer to = {}) : answer_{std::move(to)} {}
  fake_database(const fake_database&) = delete;
  fake_database& operator=(const fake_database&) = delete;

  engine::gateway& gateway() { return gateway_; }
  int ended_sessions() const { return ended_; }
  /// The number of the session that asks, counted from 1. In a test of one thread.
  int asking() const { return asking_; }

 private:
  class session final : public driver::session {
   public:
    explicit session(fake_database& of) : of_{of} {}
    ~session() override { ++of_.ended_; }
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    void exclusively(const std::function<void()>& body, const driver::limits& /*until*/) override { body(); }

   private:
    std::vector<driver::row> do_run(const sheets::step& what, std::span<const driver::request> batch,
                                    const driver::limits& until) override {
      if (what.verb == sheets::verb::schema)
        return {{std::int64_t{0}, std::int64_t{0}, std::string{}, std::int64_t{0}, std::int64_t{0}, {}}};
      of_.asking_ = number_;
      return of_.answer_ ? of_.answer_(what.verb, batch, until) : std::vector<driver::row>{};
    }
    void do_script(const std::string& /*sql*/) override {}
    std::int64_t do_change_count(const driver::limits& /*until*/) override { return 0; }

    fake_database& of_;
    const int number_ = ++of_.begun_;
  };

  class database final : public driver::database {
   public:
    explicit database(fake_database& of) : of_{of} {}
    std::string server() const override { return "a fake"; }
    std::unique_ptr<driver::session> connect(const driver::limits& /*until*/) override {
      return std::make_unique<session>(of_);
    }
    std::unique_ptr<driver::session> connect_to_hold(const driver::limits& until) override { return connect(until); }
    std::unique_ptr<driver::enlisted_transaction> join(driver::caller_transaction& /*tx*/,
                                                       bool /*is_guarded*/) override {
      throw std::logic_error{"there are no transactions"};
    }
    bool has_row_locks() const noexcept override { return true; }
    std::size_t most_sessions() const noexcept override { return 100; }
    driver::foreign_news news() const noexcept override { return driver::foreign_news::none; }

   private:
    fake_database& of_;
  };

  // A backend consists of plain functions.
  static inline fake_database* being_opened = nullptr;
  const driver::backend& kind() {
    being_opened = this;
    static const driver::backend the{
        .schemes = {},
        .sheet = [](std::string_view prefix, const driver::open_options&) { return sheets::sqlite(prefix); },
        .migrations = {},
        .passages = {},
        .open = [](const core::url&, const driver::open_options&) -> std::unique_ptr<driver::database> {
          return std::make_unique<database>(*being_opened);
        }};
    return the;
  }

  answer answer_;
  std::atomic<int> begun_{0};
  std::atomic<int> ended_{0};
  std::atomic<int> asking_{0};
  client_options options_{};
  engine::identity who_{"test"};
  engine::telemetry events_{[](const event&) {}, std::chrono::seconds{5}};
  engine::gateway gateway_{kind(), core::url{}, options_, who_, events_};
};

}  // namespace rowlock::test
