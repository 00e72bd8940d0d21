#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "core/url.hpp"
#include "driver/backend.hpp"
#include "store/leases.hpp"
#include "strategy/strategy.hpp"
#include "subjects.hpp"

namespace bench {

namespace {

rowlock::lock_name name_of_lane(std::size_t number) { return fmt::format("bench/{}", number); }

class handle_lane final : public lane {
 public:
  handle_lane(rowlock::client& locks, std::size_t number, const rowlock::lock_options& how)
      : locks_{locks}, name_{name_of_lane(number)}, options_{how} {}

  void cycle() override { locks_.acquire(name_, options_).release(); }

 private:
  rowlock::client& locks_;
  rowlock::lock_name name_;
  rowlock::lock_options options_;
};

class share_lane final : public lane {
 public:
  share_lane(rowlock::client& locks, std::size_t number, const rowlock::lock_options& how)
      : locks_{locks}, name_{name_of_lane(number)}, options_{how} {}

  void cycle() override { locks_.acquire_shared(name_, options_).release(); }

 private:
  rowlock::client& locks_;
  rowlock::lock_name name_;
  rowlock::lock_options options_;
};

class mutex_lane final : public lane {
 public:
  mutex_lane(rowlock::client& locks, std::size_t number, const rowlock::lock_options& how)
      : mutex_{locks, name_of_lane(number), how} {}

  void cycle() override { const std::scoped_lock guard{mutex_}; }

 private:
  rowlock::mutex mutex_;
};

template <class Lane>
class rowlock_subject final : public subject {
 public:
  rowlock_subject(const std::string& url, rowlock::lock_options how, rowlock::client_options options)
      : locks_{rowlock::client::connect(url, std::move(options))}, how_{std::move(how)} {
    locks_.migrate();
  }

  std::unique_ptr<lane> open_lane(std::size_t number) override { return std::make_unique<Lane>(locks_, number, how_); }

 private:
  rowlock::client locks_;
  rowlock::lock_options how_;
};

class random_lane final : public lane {
 public:
  random_lane(rowlock::client& locks, std::size_t names) : locks_{locks}, number_{1, names} {}

  void cycle() override { locks_.acquire(fmt::format("old/{}", number_(random_))).release(); }

 private:
  rowlock::client& locks_;
  std::mt19937_64 random_{std::random_device{}()};
  std::uniform_int_distribution<std::size_t> number_;
};

class random_subject final : public subject {
 public:
  random_subject(const std::string& url, std::size_t names, rowlock::client_options options)
      : locks_{rowlock::client::connect(url, std::move(options))}, names_{names} {}

  std::unique_ptr<lane> open_lane(std::size_t /*number*/) override {
    return std::make_unique<random_lane>(locks_, names_);
  }

 private:
  rowlock::client locks_;
  std::size_t names_;
};

using namespace std::chrono_literals;
namespace driver = rowlock::driver;
namespace store = rowlock::store;
namespace strategies = rowlock::strategies;

constexpr std::size_t names = 32;

driver::limits call_limits() { return {.deadline = rowlock::base::later(rowlock::base::now(), 5s)}; }

class steps_lane final : public lane {
 public:
  steps_lane(driver::database& at, const rowlock::sheets::sheet& sql, std::size_t number, std::size_t at_once)
      : session_{at.connect(call_limits())}, sql_{sql}, at_once_{at_once} {
    for (std::size_t n = 0; n < names; ++n) names_.push_back(fmt::format("bench/{}/{}", number, n));
    acquisitions_.resize(at_once);
  }

  std::size_t cycles_at_once() const override { return at_once_; }

  void cycle() override {
    std::vector<strategies::acquire_args> wanted;
    std::vector<store::lease_ref> held;
    for (std::string& acquisition : acquisitions_) {
      const std::string& name = names_[next_++ % names];
      acquisition = fmt::format("{:032x}", next_);
      wanted.push_back(
          {.name = name, .owner = owner_, .thread = "1", .acquisition = acquisition, .note = {}, .lease = 30s});
      held.push_back({.name = name, .acquisition = acquisition, .lease = 30s});
    }
    acquire(wanted);
    release(held);
  }

 private:
  store::access access(const driver::limits& until) { return {.sheet = sql_, .session = *session_, .until = until}; }
  void acquire(std::span<const strategies::acquire_args> batch) {
    const auto until = call_limits();
    for (const auto& answer : unique_index_.acquire(access(until), batch))
      if (answer.what != strategies::verdict::granted) throw std::runtime_error{"a name of a batch was not granted"};
  }
  void release(std::span<const store::lease_ref> batch) {
    const auto until = call_limits();
    for (const auto outcome : store::release(access(until), batch))
      if (outcome != store::release_outcome::released) throw std::runtime_error{"a name of a batch was not released"};
  }

  std::unique_ptr<driver::session> session_;
  const rowlock::sheets::sheet& sql_;
  const strategies::algorithm unique_index_{strategies::unique_index};
  std::size_t at_once_;
  std::vector<std::string> names_;
  std::vector<std::string> acquisitions_;
  std::string owner_ = fmt::format("bench:localhost:{}:0123456789abcdef", ::getpid());
  std::uint64_t next_ = 0;
};

class steps final : public subject {
 public:
  steps(const server& at, const std::string& prefix, std::size_t at_once)
      : options_{.application_name = fmt::format("{} steps:{}", application, ::getpid()), .table_prefix = prefix},
        backend_{driver::backend_for(rowlock::core::cut_url(at.url).scheme)},
        sql_{backend_.sheet(prefix, options_)},
        database_{backend_.open(rowlock::core::cut_url(at.url), options_)},
        at_once_{at_once} {}

  std::unique_ptr<lane> open_lane(std::size_t number) override {
    return std::make_unique<steps_lane>(*database_, sql_, number, at_once_);
  }

 private:
  driver::open_options options_;
  const driver::backend& backend_;
  rowlock::sheets::sheet sql_;
  std::unique_ptr<driver::database> database_;
  std::size_t at_once_;
};

}  // namespace

std::unique_ptr<subject> make_rowlock_handles(const std::string& url, rowlock::lock_options how,
                                              rowlock::client_options options) {
  return std::make_unique<rowlock_subject<handle_lane>>(url, std::move(how), std::move(options));
}

std::unique_ptr<subject> make_rowlock_shares(const std::string& url, rowlock::lock_options how,
                                             rowlock::client_options options) {
  return std::make_unique<rowlock_subject<share_lane>>(url, std::move(how), std::move(options));
}

std::unique_ptr<subject> make_rowlock_mutexes(const std::string& url, rowlock::lock_options how,
                                              rowlock::client_options options) {
  return std::make_unique<rowlock_subject<mutex_lane>>(url, std::move(how), std::move(options));
}

std::unique_ptr<subject> make_rowlock_random_handles(const std::string& url, std::size_t names,
                                                     rowlock::client_options options) {
  return std::make_unique<random_subject>(url, names, std::move(options));
}

std::unique_ptr<subject> make_steps(const server& at, const std::string& prefix, std::size_t at_once) {
  return std::make_unique<steps>(at, prefix, at_once);
}

}  // namespace bench
