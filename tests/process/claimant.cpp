#include "process/claimant.hpp"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "process/roles.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {

namespace {

/// Only lives on; without a word, or its parent would hear it.
void live_without_parent() {
  ::alarm(120);
  const pid_t parent = ::getppid();
  static_cast<void>(eventually([&] { return ::getppid() != parent; }));
  static_cast<void>(hear());
  ::_exit(0);
}

/// claimant URL STRATEGY LIMIT LOG
class player {
 public:
  explicit player(const std::vector<std::string>& arguments)
      : options_{.strategy = strategy_named(arguments.at(1))},
        locks_{connect_patiently(arguments.at(0),
                                 {.transaction_limit = std::chrono::milliseconds{std::stoll(arguments.at(2))}})},
        log_{arguments.at(3), std::ios::app} {}

  int play() {
    for (;;) {
      std::istringstream words{hear()};
      std::string order;
      std::string name;
      words >> order >> name;
      if (order == "claim" || order == "share") {
        const bool has_lease = options_.strategy != strategy::for_update;
        if (std::int64_t lease = 0; words >> lease && has_lease) options_.lease = std::chrono::milliseconds{lease};
        say(claim(name, order == "share"));
      } else if (order == "lost?") {
        static_cast<void>(eventually([&] { return held_.lost().stop_requested(); }));
        say(to_string(held_.why_lost()));
      } else if (order == "held?") {
        say(held_ && !held_.lost().stop_requested() ? "yes" : "no");
      } else if (order == "release") {
        const auto e = error_of([&] { held_.release(); });
        say(e ? e->code().message() : "released");
      } else if (order == "try") {
        say(locks_.try_acquire(name, options_).has_value() ? "granted" : "busy");
      } else if (order == "fork") {
        if (::fork() == 0) live_without_parent();
        say("forked");
      } else {
        locks_.close();
        return order == "end" ? 0 : 1;
      }
    }
  }

 private:
  std::string claim(const std::string& name, bool is_shared) {
    held_ = is_shared ? locks_.acquire_shared(name, options_) : locks_.acquire(name, options_);
    auto token = std::to_string(held_.token().value());
    log_ << std::to_string(::getpid()) + " " + token + "\n" << std::flush;
    return token;
  }

  lock_options options_;
  client locks_;
  held_lock held_;
  std::ofstream log_;
};

int play_claimant(const std::vector<std::string>& arguments) { return player{arguments}.play(); }

const role_registration claimant_role{"claimant", play_claimant};

}  // namespace

claimant::claimant(const std::string& url, strategy by, duration transaction_limit, const std::filesystem::path& log)
    : process_{"claimant",
               {url, std::string{to_string(by)},
                std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(transaction_limit).count()),
                log.string()}},
      by_{by} {}

std::string claimant::ask(std::string_view what) {
  order(what);
  return answer();
}

std::int64_t claimant::claim(const std::string& name) {
  order("claim " + name);
  return token();
}

std::int64_t claimant::claim(const std::string& name, std::chrono::milliseconds lease) {
  order("claim " + name + " " + std::to_string(lease.count()));
  return token();
}

std::int64_t claimant::share(const std::string& name, std::chrono::milliseconds lease) {
  order("share " + name + " " + std::to_string(lease.count()));
  return token();
}

}  // namespace rowlock::test
