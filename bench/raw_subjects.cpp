#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "subjects.hpp"

namespace bench {

namespace {

constexpr const char* lease_us = "30000000";
constexpr const char* note = nullptr;

void must_find(bool found) {
  if (!found) throw std::runtime_error{"a raw cycle did not get the row, or did not have it"};
}

struct raw_texts {
  std::string upsert;
  std::string vacate;
  std::string lock_row;
  std::string raise_version;
  std::string read_version;
  std::string compare_and_set;
};

raw_texts texts_for(const server& at, const std::string& prefix, raw_release how) {
  const auto in_tables = [&](const std::string& text) {
    return fmt::format(fmt::runtime(text), fmt::arg("prefix", prefix));
  };
  return {.upsert = in_tables(at.upsert),
          .vacate = in_tables(how == raw_release::durable ? at.vacate : at.relaxed_vacate),
          .lock_row = in_tables(at.lock_row),
          .raise_version = in_tables(at.raise_version),
          .read_version = in_tables(at.read_version),
          .compare_and_set = in_tables(at.compare_and_set)};
}

class upsert_lane : public lane {
 public:
  upsert_lane(std::unique_ptr<test::connection> on, const raw_texts& texts, std::size_t number)
      : connection_{std::move(on)},
        upsert_{connection_->prepare(texts.upsert)},
        vacate_{connection_->prepare(texts.vacate)},
        name_{fmt::format("bench/{}", number)},
        thread_{fmt::format("{}", number)} {}

  void cycle() override { upsert_and_vacate(); }

 protected:
  /// Leaves a vacant row behind.
  void upsert_and_vacate() {
    const char* const id = new_acquisition();
    must_find(upsert_->run(std::array{name(), owner(), thread(), id, lease_us, note}) != 0);
    vacate();
  }
  void vacate() { must_find(vacate_->run(std::array{name(), acquisition_.text().c_str()}) != 0); }

  const char* new_acquisition() {
    acquisition_.draw();
    return acquisition_.text().c_str();
  }
  const char* name() const { return name_.c_str(); }
  const char* owner() const { return owner_.c_str(); }
  const char* thread() const { return thread_.c_str(); }
  test::connection& on() const { return *connection_; }

 private:
  std::unique_ptr<test::connection> connection_;
  std::unique_ptr<test::statement> upsert_;
  std::unique_ptr<test::statement> vacate_;
  std::string name_;
  std::string owner_ = fmt::format("bench:localhost:{}:0123456789abcdef", ::getpid());
  std::string thread_;
  acquisition acquisition_;
};

class transaction_lane final : public upsert_lane {
 public:
  transaction_lane(std::unique_ptr<test::connection> to, const raw_texts& texts, std::size_t number)
      : upsert_lane{std::move(to), texts, number},
        lock_row_{on().prepare(texts.lock_row)},
        raise_version_{on().prepare(texts.raise_version)} {
    upsert_and_vacate();
  }

  void cycle() override {
    on().execute("BEGIN");
    must_find(lock_row_->run(std::array{name()}) != 0);
    must_find(raise_version_->run(std::array{name()}) != 0);
    on().execute("COMMIT");
  }

 private:
  std::unique_ptr<test::statement> lock_row_;
  std::unique_ptr<test::statement> raise_version_;
};

class compare_and_set_lane final : public upsert_lane {
 public:
  compare_and_set_lane(std::unique_ptr<test::connection> to, const raw_texts& texts, std::size_t number)
      : upsert_lane{std::move(to), texts, number},
        read_version_{on().prepare(texts.read_version)},
        compare_and_set_{on().prepare(texts.compare_and_set)} {
    upsert_and_vacate();
  }

  void cycle() override {
    const auto seen = read_version_->read(std::array{name()});
    must_find(seen.has_value());
    const char* const id = new_acquisition();
    must_find(compare_and_set_->run(std::array{owner(), thread(), id, lease_us, note, name(), seen->c_str()}) != 0);
    vacate();
  }

 private:
  std::unique_ptr<test::statement> read_version_;
  std::unique_ptr<test::statement> compare_and_set_;
};

template <class Lane>
class raw final : public subject {
 public:
  raw(const server& at, const std::string& prefix, raw_release how) : server_{at}, texts_{texts_for(at, prefix, how)} {}

  std::unique_ptr<lane> open_lane(std::size_t number) override {
    return std::make_unique<Lane>(server_.connect(), texts_, number);
  }

 private:
  const server& server_;
  raw_texts texts_;
};

class session_lock_lane final : public lane {
 public:
  session_lock_lane(std::unique_ptr<test::connection> on, const session_lock& texts, std::string key)
      : connection_{std::move(on)},
        lock_{connection_->prepare(texts.lock)},
        unlock_{connection_->prepare(texts.unlock)},
        key_{std::move(key)} {}

  void cycle() override {
    run(*lock_);
    run(*unlock_);
  }

 private:
  void run(test::statement& what) {
    if (what.run(std::array{key_.c_str()}) == 0) throw std::runtime_error{"a session did not get its lock, or lost it"};
  }

  std::unique_ptr<test::connection> connection_;
  std::unique_ptr<test::statement> lock_;
  std::unique_ptr<test::statement> unlock_;
  std::string key_;
};

class session_locks final : public subject {
 public:
  session_locks(const server& at, const session_lock& texts) : server_{at}, texts_{texts} {}

  std::unique_ptr<lane> open_lane(std::size_t number) override {
    auto key = fmt::format("{}", (std::uint64_t{space_} << 16U) + number);
    return std::make_unique<session_lock_lane>(server_.connect(), texts_, std::move(key));
  }

 private:
  const server& server_;
  const session_lock& texts_;
  std::uint32_t space_ = std::random_device{}();  // so that two benchmarks on one server do not meet
};

class one_name final : public subject {
 public:
  explicit one_name(std::unique_ptr<subject> of) : subject_{std::move(of)} {}

  std::unique_ptr<lane> open_lane(std::size_t /*number*/) override { return subject_->open_lane(0); }

 private:
  std::unique_ptr<subject> subject_;
};

}  // namespace

std::unique_ptr<subject> make_raw(const server& at, const std::string& prefix, raw_release how) {
  return std::make_unique<raw<upsert_lane>>(at, prefix, how);
}

std::unique_ptr<subject> make_raw_transactions(const server& at, const std::string& prefix) {
  return std::make_unique<raw<transaction_lane>>(at, prefix, raw_release::durable);
}

std::unique_ptr<subject> make_raw_compare_and_set(const server& at, const std::string& prefix, raw_release how) {
  return std::make_unique<raw<compare_and_set_lane>>(at, prefix, how);
}

std::unique_ptr<subject> make_session_locks(const server& at) {
  return std::make_unique<session_locks>(at, at.session_lock);
}

std::unique_ptr<subject> make_shared_session_locks(const server& at) {
  return std::make_unique<session_locks>(at, at.shared_session_lock);
}

std::unique_ptr<subject> with_one_name(std::unique_ptr<subject> of) {
  return std::make_unique<one_name>(std::move(of));
}

}  // namespace bench
