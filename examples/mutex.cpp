// A mutex that processes share. Start the program several times at once: no number of the counter is lost.
//
//   mutex [DATABASE-URL]
//
// The URL may be a server's: postgresql://user:password@host/database or mysql://user:password@host/database.

#include <rowlock/rowlock.hpp>

#include <exception>
#include <fstream>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

constexpr const char* counter = "counter.txt";
constexpr int threads = 4;
constexpr int times = 25;

long read_counter() {
  long number = 0;
  std::ifstream{counter} >> number;  // 0 where there is no file yet
  return number;
}

/// Reads, adds and writes: wrong as soon as two do so at once.
void raise_counter() {
  const long number = read_counter();
  std::ofstream{counter} << number + 1;
}

void raise_often(rowlock::mutex& mutex) try {
  for (int i = 0; i < times; ++i) {
    const std::scoped_lock guard{mutex};  // waits until no other thread or process has it
    // A lock can be lost while it is held: the database was away for longer than the lease, or somebody freed the name.
    // The guard does not notice: ask before you do what must not go wrong.
    if (mutex.held().lost().stop_requested()) throw std::runtime_error{"the lock was lost"};
    raise_counter();
  }
} catch (const std::exception& e) {
  std::cerr << "a thread: " << e.what() << '\n';  // the sum is then too small
}

}  // namespace

int main(int argc, char** argv) try {
  auto locks = rowlock::client::connect(argc > 1 ? argv[1] : "sqlite:locks.db", {.application = "mutex-example"});
  locks.migrate();  // makes the tables of the locks, unless they are there

  rowlock::mutex mutex{locks, "counter"};  // every mutex of that name, anywhere, is the same lock
  const long before = read_counter();
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back([&mutex] { raise_often(mutex); });
  }
  const long raised = read_counter() - before;
  std::cout << "the counter was raised by " << raised << '\n';
  return raised >= long{threads} * times ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << "mutex: " << e.what() << '\n';
  return 1;
}
