#include <rowlock/rowlock.hpp>

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "crew.hpp"
#include "server.hpp"
#include "subjects.hpp"
#include "testkit/json_line.hpp"

namespace bench {

namespace {

/// One who takes a lock, however long that takes, and lets it go.
class taker {
 public:
  taker() = default;
  taker(const taker&) = delete;
  taker& operator=(const taker&) = delete;
  virtual ~taker() = default;

  virtual void take() = 0;
  virtual void let_go() = 0;
};

server server_of(const orders& what) {
#ifdef ROWLOCK_WITH_SQLITE
  constexpr std::string_view sqlite = "sqlite:";
  if (what.url.starts_with(sqlite))
    return sqlite_server(std::filesystem::path{what.url.substr(sqlite.size())}.parent_path());
#endif
  return open_server(what.url);
}

class rowlock_taker final : public taker {
 public:
  explicit rowlock_taker(const orders& what)
      : locks_{rowlock::client::connect(what.url, {.application = application, .table_prefix = what.prefix})},
        name_{what.lock},
        options_{.strategy = what.strategy,
                 .lease = std::chrono::seconds{what.lease_s},
                 .fairness = what.fairness,
                 .renew = what.renew} {}

  void take() override { held_.emplace(locks_.acquire(name_, options_)); }
  void let_go() override {
    held_->release();
    held_.reset();
  }

 private:
  rowlock::client locks_;
  rowlock::lock_name name_;
  rowlock::lock_options options_;
  std::optional<rowlock::held_lock> held_;
};

/// On a connection of its own.
class raw_taker : public taker {
 public:
  explicit raw_taker(const orders& what)
      : server_{server_of(what)}, on_{server_.connect()}, prefix_{what.prefix}, lock_{what.lock} {}

 protected:
  const server& at() const noexcept { return server_; }
  test::connection& on() noexcept { return *on_; }
  std::unique_ptr<test::statement> prepare(const std::string& text) {
    return on_->prepare(fmt::format(fmt::runtime(text), fmt::arg("prefix", prefix_)));
  }
  const char* lock() const noexcept { return lock_.c_str(); }
  void run_for_the_lock(test::statement& what) {
    if (what.run(std::array{lock_.c_str()}) == 0) throw std::runtime_error{"a raw statement did not find the lock"};
  }

 private:
  server server_;
  std::unique_ptr<test::connection> on_;
  std::string prefix_;
  std::string lock_;
};

class transaction_taker final : public raw_taker {
 public:
  explicit transaction_taker(const orders& what) : raw_taker{what}, raise_version_{prepare(at().raise_version)} {
    if (!at().lock_row.empty()) lock_row_ = prepare(at().lock_row);
  }

  void take() override {
    // Where no row can be locked, the transaction waits when it begins.
    on().execute(lock_row_ ? "BEGIN" : "BEGIN IMMEDIATE");
    if (lock_row_) run_for_the_lock(*lock_row_);
    run_for_the_lock(*raise_version_);
  }
  void let_go() override { on().execute("COMMIT"); }

 private:
  std::unique_ptr<test::statement> raise_version_;
  std::unique_ptr<test::statement> lock_row_;
};

class session_lock_taker final : public raw_taker {
 public:
  explicit session_lock_taker(const orders& what)
      : raw_taker{what}, lock_{on().prepare(at().session_lock.lock)}, unlock_{on().prepare(at().session_lock.unlock)} {}

  void take() override { run_for_the_lock(*lock_); }
  void let_go() override { run_for_the_lock(*unlock_); }

 private:
  std::unique_ptr<test::statement> lock_;
  std::unique_ptr<test::statement> unlock_;
};

class upsert_taker final : public raw_taker {
 public:
  explicit upsert_taker(const orders& what)
      : raw_taker{what},
        upsert_{prepare(at().upsert)},
        vacate_{prepare(at().relaxed_vacate.empty() ? at().vacate : at().relaxed_vacate)} {}

  void take() override {
    acquisition_.draw();
    const std::array<const char*, 6> values{
        lock(), "bench:localhost:1:0123456789abcdef", "1", acquisition_.text().c_str(), "30000000", nullptr};
    while (upsert_->run(values) == 0) {
    }
  }
  void let_go() override {
    if (vacate_->run(std::array{lock(), acquisition_.text().c_str()}) == 0)
      throw std::runtime_error{"an upsert by hand has lost the lock"};
  }

 private:
  std::unique_ptr<test::statement> upsert_;
  std::unique_ptr<test::statement> vacate_;
  acquisition acquisition_;
};

std::unique_ptr<taker> make_taker(const orders& what) {
  switch (what.way) {
    case way::rowlock:
      return std::make_unique<rowlock_taker>(what);
    case way::transaction:
      return std::make_unique<transaction_taker>(what);
    case way::session_lock:
      return std::make_unique<session_lock_taker>(what);
    case way::upsert:
      return std::make_unique<upsert_taker>(what);
  }
  throw std::invalid_argument{"there is no such way to take a lock"};
}

using clock = std::chrono::steady_clock;

std::int64_t since_ns(clock::time_point start) { return (clock::now() - start).count(); }
std::int64_t now_ns() { return since_ns({}); }

void tell(const answer& what) { std::cout << test::to_line(what) << std::endl; }

class worker {
 public:
  explicit worker(const orders& what) {
#ifdef ROWLOCK_WITH_SQLITE
    if (what.is_counted) watch_.emplace();
#endif
    taker_ = make_taker(what);
  }

  void obey(const std::string& line) {
    std::istringstream words{line};
    std::string verb;
    std::int64_t us = 0;
    words >> verb >> us;
    if (verb == "take") {
      tell({});  // from here on it waits
      taker_->take();
      tell({.at_ns = now_ns()});
    } else if (verb == "let_go") {
      tell(let_go_after(std::chrono::microseconds{us}));
    } else if (verb == "cycle") {
      tell(cycle_for(std::chrono::microseconds{us}));
    } else if (verb == "count") {
      tell(count());
    } else {
      throw std::invalid_argument{"a worker was told to " + line};
    }
  }

 private:
  answer let_go_after(std::chrono::microseconds hold) {
    std::this_thread::sleep_for(hold);
    const auto began = now_ns();
    taker_->let_go();
    return {.at_ns = began};
  }

  answer cycle_for(std::chrono::microseconds length) {
    answer done;
    const auto began = clock::now();
    while (clock::now() - began < length) {
      const auto asked = clock::now();
      taker_->take();
      done.waits_ns.push_back(static_cast<std::uint32_t>(std::min<std::int64_t>(since_ns(asked), UINT32_MAX)));
      taker_->let_go();
    }
    done.took_ns = since_ns(began);
    return done;
  }

  answer count() const {
#ifdef ROWLOCK_WITH_SQLITE
    if (watch_) return {.connections = watch_->connections(), .statements = watch_->statements()};
#endif
    return {};
  }

#ifdef ROWLOCK_WITH_SQLITE
  std::optional<sqlite_watch> watch_;
#endif
  std::unique_ptr<taker> taker_;
};

}  // namespace

int work() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    std::string line;
    if (!std::getline(std::cin, line)) return 0;
    worker one{test::from_line<orders>(line)};
    tell({});
    while (std::getline(std::cin, line)) one.obey(line);
    return 0;
  } catch (const std::exception& e) {
    tell({.error = e.what()});
    return 1;
  }
}

}  // namespace bench
