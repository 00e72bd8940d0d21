// Workers that take turns in the order in which they began to wait, across threads, processes and hosts.
//
//   worker_queue [DATABASE-URL]

#include <rowlock/rowlock.hpp>

#include <exception>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr const char* name = "printer/1";
constexpr int workers = 5;

/// The order binds only those who ask for it: let all users of the name do so.
constexpr auto in_turn = rowlock::fairness::fifo;

/// What a worker does when it is its turn: no other worker does so at the same time.
void print(int worker, std::vector<int>& served) { served.push_back(worker); }

void work(rowlock::client& locks, int worker, std::vector<int>& served) try {
  auto turn = locks.acquire(name, {.fairness = in_turn, .note = "worker " + std::to_string(worker)});
  print(worker, served);
  turn.release();
} catch (const rowlock::error& e) {
  std::cerr << "worker " << worker << ": " << e.what() << '\n';  // the check in main() then fails
}

}  // namespace

int main(int argc, char** argv) try {
  auto locks = rowlock::client::connect(argc > 1 ? argv[1] : "sqlite:locks.db", {.application = "queue-example"});
  locks.migrate();

  std::vector<int> in_order(workers);
  std::iota(in_order.begin(), in_order.end(), 0);
  std::vector<int> served;
  {
    std::vector<std::jthread> crew;
    auto first = locks.acquire(name, {.fairness = in_turn});
    for (int worker = 0; worker < workers; ++worker) {
      crew.emplace_back([&locks, &served, worker] { work(locks, worker, served); });
      // Starts the next one when this one is in the queue, so that it is known who came first.
      while (locks.waiters(name).size() < crew.size()) std::this_thread::yield();
    }
    for (const rowlock::waiter_info& each : locks.waiters(name))
      std::cout << each.owner << " waits (" << each.thread << ")\n";
    first.release();
    const auto last = locks.acquire(name, {.fairness = in_turn});  // after all who wait already
    if (served != in_order) throw std::runtime_error{"the workers were not served in their order"};
  }
  std::cout << "all were served in their order\n";
} catch (const std::exception& e) {
  std::cerr << "worker_queue: " << e.what() << '\n';
  return 1;
}
