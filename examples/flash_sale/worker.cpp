#include "worker.hpp"

#include <sys/prctl.h>

#include <csignal>
#include <iostream>
#include <stdexcept>
#include <string>

#include "buyers.hpp"
#include "late_buyer.hpp"
#include "messages.hpp"
#include "strategies.hpp"

namespace flash_sale {
namespace {

void tell(const message& what) { std::cout << to_line(what) << std::endl; }

std::string next_line() {
  std::string line;
  if (!std::getline(std::cin, line)) throw std::runtime_error{"nobody told this worker what to do"};
  return line;
}

/// Tells that it is ready, waits for the word, and tells what happened.
template <class Work>
void tell_and_do(const Work& work) {
  tell({.ready = true});
  (void)next_line();
  tell(work());
}

/// However this process is told to end, it first lets go of its lock.
void end_tidily_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stop_buying(); };
  sigemptyset(&action.sa_mask);
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(each, &action, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
}

}  // namespace

int work() {
  try {
    end_tidily_on_signals();
    const auto what = nlohmann::json::parse(next_line()).get<task>();
    if (what.strategy == paused_without_confirm || what.strategy == paused_with_confirm) {
      late_buyer one{what};
      tell_and_do([&] { return one.carry_out(); });
    } else {
      buyers all{what};
      tell_and_do([&] { return all.buy_everything(); });
    }
    return 0;
  } catch (const std::exception& e) {
    tell({.error = e.what()});
    return 1;
  }
}

}  // namespace flash_sale
