#include "server_session_locks.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

namespace bench {
namespace {

class session_lock_lane final : public lane {
 public:
  session_lock_lane(std::unique_ptr<connection> on, const session_lock& texts, std::string key)
      : connection_{std::move(on)},
        lock_{connection_->prepare(texts.lock)},
        unlock_{connection_->prepare(texts.unlock)},
        key_{std::move(key)} {}

  void cycle() override {
    run(*lock_);
    run(*unlock_);
  }

 private:
  void run(statement& what) {
    if (what.run(std::array{key_.c_str()}) == 0) throw std::runtime_error{"a session did not get its lock, or lost it"};
  }

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

std::unique_ptr<subject> make_session_locks(const server& at) { return std::make_unique<session_locks>(at); }

}  // namespace bench
