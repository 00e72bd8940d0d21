#include "postgresql_raw.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <utility>

#include "postgresql_connection.hpp"

namespace bench {
namespace {

// Both with the prefix of the tables; {clock} is microseconds since 1970.
constexpr const char* upsert = R"(
INSERT INTO {prefix}lock AS l (name, version, owner, thread, acquisition, acquired_at, expires_at, note)
VALUES ($1, {clock}, $2, $3, $4, clock_timestamp(), clock_timestamp() + $5::bigint * interval '1 microsecond', $6)
ON CONFLICT (name) DO UPDATE SET version = greatest(l.version + 1, {clock}), owner = excluded.owner,
  thread = excluded.thread, acquisition = excluded.acquisition, acquired_at = excluded.acquired_at,
  expires_at = excluded.expires_at, note = excluded.note
WHERE l.owner IS NULL OR l.expires_at <= clock_timestamp()
RETURNING version)";
constexpr const char* vacate = R"(
UPDATE {prefix}lock SET version = greatest(version + 1, {clock}), owner = NULL, thread = NULL, note = NULL,
  expires_at = clock_timestamp()
WHERE name = $1 AND acquisition = $2{relaxed}
RETURNING version)";
constexpr const char* clock = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
constexpr const char* relaxed = " AND set_config('synchronous_commit', 'off', true) IS NOT NULL";
constexpr const char* lease_us = "30000000";

void run_for_one(postgresql_connection& on, const std::string& what, std::span<const char* const> values) {
  if (on.run(what, values) != 1) throw std::runtime_error{"a raw cycle did not get the row, or did not have it"};
}

class raw_lane final : public lane {
 public:
  raw_lane(const std::string& url, const std::string& prefix, raw_release how, std::size_t number)
      : connection_{url}, name_{fmt::format("bench/{}", number)}, thread_{fmt::format("{}", number)} {
    using fmt::arg;
    const char* const also = how == raw_release::durable ? "" : relaxed;
    connection_.prepare(take_, fmt::format(fmt::runtime(upsert), arg("prefix", prefix), arg("clock", clock)));
    connection_.prepare(
        let_go_, fmt::format(fmt::runtime(vacate), arg("prefix", prefix), arg("clock", clock), arg("relaxed", also)));
  }

  void cycle() override {
    draw_acquisition();
    const std::array taking{name_.c_str(),        owner_.c_str(), thread_.c_str(),
                            acquisition_.c_str(), lease_us,       static_cast<const char*>(nullptr)};
    run_for_one(connection_, take_, taking);
    const std::array letting_go{name_.c_str(), acquisition_.c_str()};
    run_for_one(connection_, let_go_, letting_go);
  }

 private:
  void draw_acquisition() {
    constexpr const char* digits = "0123456789abcdef";
    for (std::size_t at = 0; at < acquisition_.size(); at += 16) {
      auto bits = random_();
      for (std::size_t digit = 0; digit < 16; ++digit, bits >>= 4) acquisition_[at + digit] = digits[bits & 15];
    }
  }

  const std::string take_ = "bench_take";
  const std::string let_go_ = "bench_let_go";
  postgresql_connection connection_;
  std::string name_;
  std::string owner_ = fmt::format("bench:localhost:{}:0123456789abcdef", ::getpid());
  std::string thread_;
  std::string acquisition_ = std::string(32, '0');
  std::mt19937_64 random_{std::random_device{}()};
};

class postgresql_raw final : public subject {
 public:
  postgresql_raw(std::string url, std::string prefix, raw_release how)
      : url_{std::move(url)}, prefix_{std::move(prefix)}, how_{how} {}

  std::unique_ptr<lane> open_lane(std::size_t number) override {
    return std::make_unique<raw_lane>(url_, prefix_, how_, number);
  }

 private:
  std::string url_;
  std::string prefix_;
  raw_release how_;
};

class advisory_lane final : public lane {
 public:
  advisory_lane(const std::string& url, std::uint32_t space, std::size_t number)
      : connection_{url}, key_{fmt::format("{}", (std::uint64_t{space} << 16U) + number)} {
    connection_.prepare(lock_, "SELECT pg_advisory_lock($1::bigint)");
    connection_.prepare(unlock_, "SELECT pg_advisory_unlock($1::bigint)");
  }

  void cycle() override {
    const std::array key{key_.c_str()};
    run_for_one(connection_, lock_, key);
    run_for_one(connection_, unlock_, key);
  }

 private:
  const std::string lock_ = "bench_lock";
  const std::string unlock_ = "bench_unlock";
  postgresql_connection connection_;
  std::string key_;
};

class postgresql_advisory final : public subject {
 public:
  explicit postgresql_advisory(std::string url) : url_{std::move(url)} {}

  std::unique_ptr<lane> open_lane(std::size_t number) override {
    return std::make_unique<advisory_lane>(url_, space_, number);
  }

 private:
  std::string url_;
  std::uint32_t space_ = std::random_device{}();  // so that two benchmarks on one server do not meet
};

}  // namespace

std::unique_ptr<subject> make_postgresql_raw(const std::string& url, const std::string& prefix, raw_release how) {
  return std::make_unique<postgresql_raw>(url, prefix, how);
}

std::unique_ptr<subject> make_postgresql_advisory(const std::string& url) {
  return std::make_unique<postgresql_advisory>(url);
}

}  // namespace bench
