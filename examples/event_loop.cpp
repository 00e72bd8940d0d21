// Callbacks in an event loop: the loop's thread never waits for the database, and no mutex protects what the callbacks
// use.
//
//   event_loop [DATABASE-URL]

#include <rowlock/rowlock.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;

/// Runs callables one after the other. Your program has one of its own: GLib's, Qt's, libuv's, or Asio's.
class event_loop {
 public:
  void post(std::function<void()> f) {
    const std::scoped_lock guard{mutex_};
    posted_.push_back(std::move(f));
    changed_.notify_one();
  }
  /// Until `is_done`.
  void run(const std::function<bool()>& is_done) {
    while (!is_done()) next()();
  }

 private:
  std::function<void()> next() {
    std::unique_lock guard{mutex_};
    changed_.wait(guard, [this] { return !posted_.empty(); });
    auto out = std::move(posted_.front());
    posted_.pop_front();
    return out;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> posted_;
};

/// What the program does with each mailbox. Only the loop's thread uses it.
class mail {
 public:
  mail(rowlock::client& locks, int boxes) : locks_{locks}, left_{boxes} {
    for (int box = 1; box <= boxes; ++box) fetch("mailbox/" + std::to_string(box));
  }
  bool is_done() const { return left_ == 0; }
  int fetched() const { return fetched_; }

 private:
  using answer = rowlock::async_answer<std::optional<rowlock::held_lock>>;

  void fetch(const std::string& box) {
    locks_.try_acquire_for_async(box, 20s).start([this, box](answer result) { granted(box, std::move(result)); });
  }
  void granted(const std::string& box, answer result) {
    --left_;
    try {
      const auto held = std::move(result).get();
      if (!held) {
        std::cerr << box << " was busy for too long\n";
        return;
      }
      ++fetched_;  // the work: a longer one moves the handle to where it goes on
    } catch (const rowlock::error& e) {
      std::cerr << box << ": " << e.what() << '\n';
    }
  }  // the handle releases the lock in the background

  rowlock::client& locks_;
  int left_;
  int fetched_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  constexpr int boxes = 50;
  event_loop loop;  // the first, so that it is there for answers until the client is closed
  auto locks = rowlock::client::connect(
      argc > 1 ? argv[1] : "sqlite:locks.db",
      {.application = "event-loop-example", .executor = [&](std::function<void()> f) { loop.post(std::move(f)); }});
  locks.migrate();

  const mail all{locks, boxes};
  loop.run([&] { return all.is_done(); });
  std::cout << all.fetched() << " mailboxes were fetched\n";
  return all.fetched() == boxes ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << "event_loop: " << e.what() << '\n';
  return 1;
}
