#include "rowlock_subjects.hpp"

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <mutex>
#include <utility>

namespace bench {
namespace {

rowlock::lock_name name_of_lane(std::size_t number) { return fmt::format("bench/{}", number); }

class handle_lane final : public lane {
 public:
  handle_lane(rowlock::client& locks, std::size_t number, rowlock::strategy strategy)
      : locks_{locks}, name_{name_of_lane(number)}, options_{.strategy = strategy} {}

  void cycle() override { locks_.acquire(name_, options_).release(); }

 private:
  rowlock::client& locks_;
  rowlock::lock_name name_;
  rowlock::lock_options options_;
};

class mutex_lane final : public lane {
 public:
  mutex_lane(rowlock::client& locks, std::size_t number, rowlock::strategy strategy)
      : mutex_{locks, name_of_lane(number), {.strategy = strategy}} {}

  void cycle() override { const std::scoped_lock guard{mutex_}; }

 private:
  rowlock::mutex mutex_;
};

template <class Lane>
class rowlock_subject final : public subject {
 public:
  rowlock_subject(const std::string& url, rowlock::strategy strategy, rowlock::client_options options)
      : locks_{rowlock::client::connect(url, std::move(options))}, strategy_{strategy} {
    locks_.migrate();
  }

  std::unique_ptr<lane> open_lane(std::size_t number) override {
    return std::make_unique<Lane>(locks_, number, strategy_);
  }

 private:
  rowlock::client locks_;
  rowlock::strategy strategy_;
};

}  // namespace

std::unique_ptr<subject> make_rowlock_handles(const std::string& url, rowlock::strategy strategy,
                                              rowlock::client_options options) {
  return std::make_unique<rowlock_subject<handle_lane>>(url, strategy, std::move(options));
}

std::unique_ptr<subject> make_rowlock_mutexes(const std::string& url, rowlock::strategy strategy,
                                              rowlock::client_options options) {
  return std::make_unique<rowlock_subject<mutex_lane>>(url, strategy, std::move(options));
}

}  // namespace bench
