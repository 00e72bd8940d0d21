#include "worker.hpp"

#include <sys/prctl.h>

#include <csignal>
#include <iostream>
#include <stdexcept>
#include <string>

#include "buyers.hpp"
#include "messages.hpp"

namespace flash_sale {
namespace {

void tell(const message& what) { std::cout << to_line(what) << std::endl; }

std::string next_line() {
  std::string line;
  if (!std::getline(std::cin, line)) throw std::runtime_error{"nobody told this worker what to do"};
  return line;
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
    buyers all{nlohmann::json::parse(next_line()).get<task>()};
    tell({.ready = true});
    (void)next_line();
    tell(all.buy_everything());
    return 0;
  } catch (const std::exception& e) {
    tell({.error = e.what()});
    return 1;
  }
}

}  // namespace flash_sale
