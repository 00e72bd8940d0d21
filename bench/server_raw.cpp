#include "server_raw.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <utility>

#include "acquisition.hpp"

namespace bench {
namespace {

constexpr const char* lease_us = "30000000";

void must_find(std::size_t rows) {
  if (rows == 0) throw std::runtime_error{"a raw cycle did not get the row, or did not have it"};
}

struct raw_texts {
  std::string upsert;
  std::string vacate;
};

class raw_lane final : public lane {
 public:
  raw_lane(std::unique_ptr<connection> on, const raw_texts& texts, std::size_t number)
      : connection_{std::move(on)},
        upsert_{connection_->prepare(texts.upsert)},
        vacate_{connection_->prepare(texts.vacate)},
        name_{fmt::format("bench/{}", number)},
        thread_{fmt::format("{}", number)} {}

  void cycle() override {
    acquisition_.draw();
    const char* const acquisition = acquisition_.text().c_str();
    const char* const note = nullptr;
    must_find(upsert_->run(std::array{name_.c_str(), owner_.c_str(), thread_.c_str(), acquisition, lease_us, note}));
    must_find(vacate_->run(std::array{name_.c_str(), acquisition}));
  }

 private:
  std::unique_ptr<connection> connection_;
  std::unique_ptr<statement> upsert_;
  std::unique_ptr<statement> vacate_;
  std::string name_;
  std::string owner_ = fmt::format("bench:localhost:{}:0123456789abcdef", ::getpid());
  std::string thread_;
  acquisition acquisition_;
};

class raw final : public subject {
 public:
  raw(const server& at, const std::string& prefix, raw_release how)
      : server_{at},
        texts_{.upsert = in_tables(at.upsert, prefix),
               .vacate = in_tables(how == raw_release::durable ? at.vacate : at.relaxed_vacate, prefix)} {}

  std::unique_ptr<lane> open_lane(std::size_t number) override {
    return std::make_unique<raw_lane>(server_.connect(), texts_, number);
  }

 private:
  static std::string in_tables(const std::string& text, const std::string& prefix) {
    return fmt::format(fmt::runtime(text), fmt::arg("prefix", prefix));
  }

  const server& server_;
  raw_texts texts_;
};

class session_lock_lane final : public lane {
 public:
  session_lock_lane(std::unique_ptr<connection> on, const session_lock& texts, std::string key)
      : connection_{std::move(on)},
        lock_{connection_->prepare(texts.lock)},
        unlock_{connection_->prepare(texts.unlock)},
        key_{std::move(key)} {}

  void cycle() override {
    must_find(lock_->run(std::array{key_.c_str()}));
    must_find(unlock_->run(std::array{key_.c_str()}));
  }

 private:
  std::unique_ptr<connection> connection_;
  std::unique_ptr<statement> lock_;
  std::unique_ptr<statement> unlock_;
  std::string key_;
};

class session_locks final : public subject {
 public:
  explicit session_locks(const server& at) : server_{at} {}

  std::unique_ptr<lane> open_lane(std::size_t number) override {
    auto key = fmt::format("{}", (std::uint64_t{space_} << 16U) + number);
    return std::make_unique<session_lock_lane>(server_.connect(), server_.session_lock, std::move(key));
  }

 private:
  const server& server_;
  std::uint32_t space_ = std::random_device{}();  // so that two benchmarks on one server do not meet
};

}  // namespace

std::unique_ptr<subject> make_raw(const server& at, const std::string& prefix, raw_release how) {
  return std::make_unique<raw>(at, prefix, how);
}

std::unique_ptr<subject> make_session_locks(const server& at) { return std::make_unique<session_locks>(at); }

}  // namespace bench
