#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "subjects.hpp"

namespace bench {
namespace {

void must_change(std::size_t rows) {
  if (rows == 0) throw std::runtime_error{"a transaction did not find its row"};
}

/// What the lanes of a subject share: the tables, one of them for the rows that transactions change, and a client.
class ground {
 public:
  ground(const server& at, std::string prefix)
      : server_{at},
        prefix_{std::move(prefix)},
        locks_{rowlock::client::connect(at.url, {.application = application, .table_prefix = prefix_})} {
    locks_.migrate();
    server_.connect()->execute(text("CREATE TABLE {prefix}own (id INTEGER PRIMARY KEY, changes INTEGER NOT NULL)"));
  }
  ground(const ground&) = delete;
  ground& operator=(const ground&) = delete;
  ~ground() {
    try {
      server_.connect()->execute(text("DROP TABLE {prefix}own"));
    } catch (const std::exception& e) {
      fmt::print(stderr, "rowlock_bench: {}own stays behind: {}\n", prefix_, e.what());
    }
  }

  std::string text(const std::string& of) const { return fmt::format(fmt::runtime(of), fmt::arg("prefix", prefix_)); }
  const server& at() const noexcept { return server_; }
  rowlock::client& locks() noexcept { return locks_; }

 private:
  server server_;
  std::string prefix_;
  rowlock::client locks_;
};

class writing_lane : public lane {
 public:
  writing_lane(ground& on, std::size_t number) : connection_{on.at().connect()}, number_{fmt::format("{}", number)} {
    connection_->execute(on.text(fmt::format("INSERT INTO {{prefix}}own (id, changes) VALUES ({}, 0)", number_)));
    write_own_ = connection_->prepare(on.text(on.at().write_own));
  }

  void cycle() final {
    connection_->in_transaction([this](test::open_transaction& tx) {
      begin(tx);
      must_change(write_own_->run(std::array{number_.c_str()}));
    });
  }
  long long statements() final { return connection_->statements(); }

 protected:
  /// What comes first in the transaction.
  virtual void begin(test::open_transaction& /*tx*/) {}

  test::connection& own() noexcept { return *connection_; }
  std::string name() const { return "bench/" + number_; }

 private:
  std::unique_ptr<test::connection> connection_;
  std::unique_ptr<test::statement> write_own_;
  std::string number_;
};

class locking_lane final : public writing_lane {
 public:
  locking_lane(ground& on, std::size_t number) : writing_lane{on, number} {
    on.locks().acquire(name()).release();  // makes the row
    if (!on.at().lock_row.empty()) lock_row_ = own().prepare(on.text(on.at().lock_row));
    raise_version_ = own().prepare(on.text(on.at().raise_version));
  }

 private:
  void begin(test::open_transaction& /*tx*/) override {
    const std::array arguments{name_.c_str()};
    if (lock_row_) must_change(lock_row_->run(arguments));
    must_change(raise_version_->run(arguments));
  }

  std::unique_ptr<test::statement> lock_row_;
  std::unique_ptr<test::statement> raise_version_;
  std::string name_ = name();
};

class lock_in_lane final : public writing_lane {
 public:
  lock_in_lane(ground& on, std::size_t number) : writing_lane{on, number}, locks_{on.locks()} {}

 private:
  void begin(test::open_transaction& tx) override { tx.lock(locks_, name_); }

  rowlock::client& locks_;
  rowlock::lock_name name_{name()};
};

class confirm_lane final : public writing_lane {
 public:
  confirm_lane(ground& on, std::size_t number) : writing_lane{on, number}, held_{on.locks().acquire(name())} {}

 private:
  void begin(test::open_transaction& tx) override { tx.prove(held_); }

  rowlock::held_lock held_;
};

template <class Lane>
class transactions final : public subject {
 public:
  transactions(const server& at, const std::string& prefix) : ground_{at, prefix} {}

  std::unique_ptr<lane> open_lane(std::size_t number) override { return std::make_unique<Lane>(ground_, number); }

 private:
  ground ground_;
};

long long statements_of(const lanes& all) {
  return std::accumulate(all.begin(), all.end(), 0LL,
                         [](long long sum, const auto& each) { return sum + each->statements(); });
}

}  // namespace

std::unique_ptr<subject> make_raw_writing(const server& at, const std::string& prefix) {
  return std::make_unique<transactions<writing_lane>>(at, prefix);
}

std::unique_ptr<subject> make_raw_locking(const server& at, const std::string& prefix) {
  return std::make_unique<transactions<locking_lane>>(at, prefix);
}

std::unique_ptr<subject> make_lock_in(const server& at, const std::string& prefix) {
  return std::make_unique<transactions<lock_in_lane>>(at, prefix);
}

std::unique_ptr<subject> make_confirm(const server& at, const std::string& prefix) {
  return std::make_unique<transactions<confirm_lane>>(at, prefix);
}

double count_on_own_connections(const std::function<std::unique_ptr<subject>()>& make, std::size_t threads,
                                std::size_t cycles) {
  constexpr std::size_t warm_up = 10;
  const auto of = make();
  const lanes all = open_lanes(*of, threads);
  run_cycles(all, warm_up);
  const auto before = statements_of(all);
  // What the question itself costs is left out.
  const auto question = statements_of(all) - before;
  run_cycles(all, cycles);
  const auto statements = static_cast<double>(statements_of(all) - before - 2 * question);
  return statements / static_cast<double>(cycles * threads);
}

}  // namespace bench
