#include "taker.hpp"

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "server.hpp"
#include "server_kinds.hpp"
#ifdef ROWLOCK_WITH_SQLITE
#include "sqlite_server.hpp"
#endif

namespace bench {
namespace {

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
  connection& on() noexcept { return *on_; }
  std::unique_ptr<statement> prepare(const std::string& text) {
    return on_->prepare(fmt::format(fmt::runtime(text), fmt::arg("prefix", prefix_)));
  }
  void run_for_the_lock(statement& what) {
    if (what.run(std::array{lock_.c_str()}) == 0) throw std::runtime_error{"a raw statement did not find the lock"};
  }

 private:
  server server_;
  std::unique_ptr<connection> on_;
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
  std::unique_ptr<statement> raise_version_;
  std::unique_ptr<statement> lock_row_;
};

class session_lock_taker final : public raw_taker {
 public:
  explicit session_lock_taker(const orders& what)
      : raw_taker{what}, lock_{on().prepare(at().session_lock.lock)}, unlock_{on().prepare(at().session_lock.unlock)} {}

  void take() override { run_for_the_lock(*lock_); }
  void let_go() override { run_for_the_lock(*unlock_); }

 private:
  std::unique_ptr<statement> lock_;
  std::unique_ptr<statement> unlock_;
};

}  // namespace

std::unique_ptr<taker> make_taker(const orders& what) {
  switch (what.way) {
    case way::rowlock:
      return std::make_unique<rowlock_taker>(what);
    case way::transaction:
      return std::make_unique<transaction_taker>(what);
    case way::session_lock:
      return std::make_unique<session_lock_taker>(what);
  }
  throw std::invalid_argument{"there is no such way to take a lock"};
}

}  // namespace bench
