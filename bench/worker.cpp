#include "worker.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "orders.hpp"
#include "taker.hpp"
#ifdef ROWLOCK_WITH_SQLITE
#include "sqlite_census.hpp"
#endif

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

std::int64_t since_ns(clock::time_point start) { return (clock::now() - start).count(); }
std::int64_t now_ns() { return since_ns({}); }

void tell(const answer& what) { std::cout << to_line(what) << std::endl; }

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
    worker one{nlohmann::json::parse(line).get<orders>()};
    tell({});
    while (std::getline(std::cin, line)) one.obey(line);
    return 0;
  } catch (const std::exception& e) {
    tell({.error = e.what()});
    return 1;
  }
}

}  // namespace bench
