#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "mysql/mariadb_server.hpp"
#include "server/server_test.hpp"
#include "support/mysql_database.hpp"
#include "testkit/temp_folder.hpp"

namespace rowlock::test {
namespace {

struct with_tls_server {
  with_tls_server() {
    const auto folder = files.path().string();
    const auto make = "cd '" + folder +
                      "' && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout key.pem "
                      "-out certificate.pem 2>/dev/null && chmod 755 . && chmod 644 key.pem";
    // NOLINTNEXTLINE(concurrency-mt-unsafe,cert-env33-c): a fixed command
    if (std::system(make.c_str()) != 0) throw std::runtime_error{"openssl makes no certificate"};
    server.emplace(
        std::vector<std::string>{"--ssl-cert=" + folder + "/certificate.pem", "--ssl-key=" + folder + "/key.pem"});
  }

  const temp_folder files{};
  std::optional<mariadb_server> server{};
};

class over_tls : protected with_tls_server, public server_test {
 protected:
  over_tls() : server_test{server->open()} {}
};

std::atomic<int> signals_caught{0};

/// A handler of SIGUSR1, and a thread that sends the signal to the one that made this, again and again.
class signalled {
 public:
  signalled() {
    struct sigaction catching {};
    catching.sa_handler = [](int) { ++signals_caught; };
    catching.sa_flags = SA_RESTART;
    ::sigaction(SIGUSR1, &catching, &before_);
    sender_ = std::jthread{[to = pthread_self()](const std::stop_token& stop) {
      for (; !stop.stop_requested(); std::this_thread::sleep_for(200us)) pthread_kill(to, SIGUSR1);
    }};
  }
  signalled(const signalled&) = delete;
  signalled& operator=(const signalled&) = delete;
  ~signalled() {
    sender_ = {};
    ::sigaction(SIGUSR1, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
  std::jthread sender_;
};

TEST_F(over_tls, calls_are_not_ended_by_signals) {
  connect().close();
  const signalled by_another_thread;
  auto locks = connect_to(db().url() + "?ssl-mode=REQUIRED");
  signals_caught = 0;
  EXPECT_TRUE(eventually([&] {
    locks.acquire("orders/42").release();
    return signals_caught >= 1000;
  }));
  EXPECT_TRUE(locks.stats().errors.empty());
}

}  // namespace
}  // namespace rowlock::test
