// A server of Asio that takes a lock for each request. One thread serves 10,000 requests that wait.
//
//   async_server [DATABASE-URL]
//
// A request is a line, the name of an item; the answer is a line, too. The program is also its own customers.

#include <rowlock/interop/asio.hpp>
#include <rowlock/rowlock.hpp>

#include <asio.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

constexpr int customers = 10;
constexpr int requests_of_each = 1000;
constexpr int items = 100;

// --- the server: all of it runs on one thread

/// A connection. It writes one answer after the other.
class connection : public std::enable_shared_from_this<connection> {
 public:
  connection(tcp::socket socket, rowlock::client& locks) : socket_{std::move(socket)}, locks_{locks} {}

  /// Begins each request when it arrives, also while earlier ones wait.
  asio::awaitable<void> run() {
    const auto self = shared_from_this();
    try {
      std::string received;
      while (true) {
        const auto size =
            co_await asio::async_read_until(socket_, asio::dynamic_buffer(received), '\n', asio::use_awaitable);
        asio::co_spawn(socket_.get_executor(), self->sell(received.substr(0, size - 1)), asio::detached);
        received.erase(0, size);
      }
    } catch (const std::system_error&) {
      // The customer has gone.
    }
    gone_.request_stop();  // what the customer waits for is not needed any more
  }

 private:
  asio::awaitable<void> sell(std::string item) {
    const auto self = shared_from_this();
    try {
      const auto held = co_await rowlock::async_start(
          locks_.try_acquire_for_async(item, 1min, options_, gone_.get_token()), asio::use_awaitable);
      answer(held ? "sold " + item : "try " + item + " later");
    } catch (const rowlock::error& e) {
      answer(std::string{"failed: "} + e.what());
    }
  }  // the handle releases the lock in the background

  void answer(const std::string& line) {
    answers_.push_back(line + '\n');
    if (answers_.size() == 1) asio::co_spawn(socket_.get_executor(), write_all(), asio::detached);
  }
  asio::awaitable<void> write_all() {
    const auto self = shared_from_this();
    try {
      for (; !answers_.empty(); answers_.pop_front())
        co_await asio::async_write(socket_, asio::buffer(answers_.front()), asio::use_awaitable);
    } catch (const std::system_error&) {
      // The customer has gone; run() notices, too.
    }
  }

  tcp::socket socket_;
  rowlock::client& locks_;
  const rowlock::lock_options options_{.note = "a customer"};
  std::stop_source gone_;
  std::deque<std::string> answers_;
};

asio::awaitable<void> accept_all(tcp::acceptor& at, rowlock::client& locks) {
  while (true) {
    const auto one = std::make_shared<connection>(co_await at.async_accept(asio::use_awaitable), locks);
    asio::co_spawn(at.get_executor(), one->run(), asio::detached);
  }
}

// --- the customers

/// Sends all requests, and then reads the answers.
class customer {
 public:
  explicit customer(const tcp::endpoint& server) : socket_{loop_} { socket_.connect(server); }

  void send() {
    std::string lines;
    for (int i = 0; i < requests_of_each; ++i) lines += "item/" + std::to_string(i % items) + '\n';
    asio::write(socket_, asio::buffer(lines));
  }
  /// How many of the answers say that the item was sold.
  int read() {
    int sold = 0;
    std::string received;
    for (int i = 0; i < requests_of_each; ++i) {
      const auto size = asio::read_until(socket_, asio::dynamic_buffer(received), '\n');
      sold += received.starts_with("sold ") ? 1 : 0;
      received.erase(0, size);
    }
    return sold;
  }

 private:
  asio::io_context loop_;
  tcp::socket socket_;
};

void expect_waiting(const rowlock::client& locks, std::size_t number) {
  const auto end = std::chrono::steady_clock::now() + 40s;
  while (locks.stats().waiting != number) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error{"the requests do not wait"};
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "sqlite:locks.db";
  auto locks = rowlock::client::connect(url, {.application = "server-example"});
  locks.migrate();

  // Another program holds all items, so that all requests wait.
  auto other = rowlock::client::connect(url, {.application = "other-example"});
  std::vector<std::string> all;
  for (int i = 0; i < items; ++i) all.push_back("item/" + std::to_string(i));
  auto held = other.acquire_all(all);

  asio::io_context loop{1};
  tcp::acceptor acceptor{loop, {asio::ip::address_v4::loopback(), 0}};
  asio::co_spawn(loop, accept_all(acceptor, locks), asio::detached);
  int sold = 0;
  {
    const std::jthread server{[&] { loop.run(); }};
    std::deque<customer> crowd;
    for (int i = 0; i < customers; ++i) crowd.emplace_back(acceptor.local_endpoint()).send();
    expect_waiting(locks, static_cast<std::size_t>(customers * requests_of_each));
    std::cout << customers * requests_of_each << " requests wait on one thread\n";
    held.release();
    for (auto& each : crowd) sold += each.read();
    loop.stop();
  }
  locks.close();  // before the loop is destroyed, to which answers are posted
  std::cout << sold << " were served\n";
  return sold == customers * requests_of_each ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << "async_server: " << e.what() << '\n';
  return 1;
}
