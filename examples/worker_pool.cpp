// A pool of threads, each of which does whatever work is free, until the pool is stopped.
//
//   worker_pool [DATABASE-URL]

#include <rowlock/rowlock.hpp>

#include <atomic>
#include <exception>
#include <iostream>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int workers = 4;
constexpr int enough = 40;
const std::vector<std::string> mailboxes{"mailbox/1", "mailbox/2"};

void fetch_mail(const rowlock::held_lock& mailbox, std::atomic<int>& fetched) {
  if (!mailbox.lost().stop_requested()) ++fetched;
}

/// A wait that is stopped throws errc::cancelled. Nothing may leave the function of a thread: std::terminate would end
/// the program.
void work(rowlock::client& locks, std::atomic<int>& fetched, const std::stop_token& stop) noexcept {
  while (!stop.stop_requested()) {
    try {
      auto mailbox = locks.acquire_any(mailboxes, {}, stop);
      fetch_mail(mailbox, fetched);
      mailbox.release();
    } catch (const rowlock::error& e) {
      if (e.code() == rowlock::errc::cancelled) return;
      std::cerr << e.code().message() << ": " << e.what() << '\n';
      if (!e.is_retryable()) return;
    } catch (const std::exception& e) {
      std::cerr << e.what() << '\n';
      return;
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  auto locks = rowlock::client::connect(argc > 1 ? argv[1] : "sqlite:locks.db", {.application = "pool-example"});
  locks.migrate();

  std::atomic<int> fetched = 0;
  // Declared after what its threads use: its destructor stops the workers, and joins them.
  std::vector<std::jthread> pool;
  for (int i = 0; i < workers; ++i) pool.emplace_back([&](const std::stop_token& stop) { work(locks, fetched, stop); });

  while (fetched < enough) std::this_thread::yield();
  const auto held = locks.acquire_all({"mailbox/1", "mailbox/2"});  // so that the workers wait when they are stopped
  pool.clear();
  std::cout << "the workers have fetched mail " << fetched << " times\n";
} catch (const std::exception& e) {
  std::cerr << "worker_pool: " << e.what() << '\n';
  return 1;
}
