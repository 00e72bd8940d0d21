// A service of which one instance works at a time, on any number of hosts; the others stand by and take over, at once
// if it shuts down, and after its lease if it dies. Here two instances are threads of one program.
//
//   election [DATABASE-URL]

#include <rowlock/rowlock.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

/// The number of the instance that works, and how many work: nobody but the leader changes them.
std::atomic<int> working{0};
std::atomic<int> leaders{0};

/// An instance: stands by, works while it leads, and resigns when it is told to stop.
void serve(const std::string& url, int instance, const std::stop_token& stop) try {
  auto locks = rowlock::client::connect(url, {.application = "election-example"});
  rowlock::election service{locks, "service", {.lock = {.lease = 10s, .note = "instance " + std::to_string(instance)}}};
  service.lead(stop, [&](const std::stop_token& told, const rowlock::held_lock& lead) {
    // Send the term along with what the service writes: the receiver can refuse what has an older one.
    std::cout << "instance " << instance << " leads, term " << lead.token() << '\n';
    ++leaders;
    working = instance;
    while (!told.stop_requested()) std::this_thread::sleep_for(1ms);  // one step of the work
    --leaders;
  });
} catch (const rowlock::error& e) {
  std::cerr << "instance " << instance << ": " << e.what() << '\n';  // the check in main() then fails
}

void expect_to_work(int instance) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (working != instance) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"nobody took over"};
    std::this_thread::sleep_for(1ms);
  }
  if (leaders != 1) throw std::runtime_error{"two work at once"};
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "sqlite:locks.db";
  auto locks = rowlock::client::connect(url, {.application = "election-example"});
  locks.migrate();

  std::atomic<bool> watched_second{false};
  // Another program watches who leads.
  rowlock::election service{locks, "service", {.look_every = 50ms}};
  const auto watch = service.observe([&](const std::optional<rowlock::lock_info>& leader) {
    watched_second = watched_second || (leader && leader->note == "instance 2");
    if (leader) std::cout << "the service is " + leader->note + ", at " + leader->owner + '\n';
  });

  std::jthread first{[&](const std::stop_token& stop) { serve(url, 1, stop); }};
  expect_to_work(1);
  const std::jthread second{[&](const std::stop_token& stop) { serve(url, 2, stop); }};
  while (locks.waiters("service").empty()) std::this_thread::sleep_for(1ms);
  first.request_stop();  // as its host shuts down
  expect_to_work(2);
  while (!watched_second) std::this_thread::sleep_for(1ms);
} catch (const std::exception& e) {
  std::cerr << "election: " << e.what() << '\n';
  return 1;
}
