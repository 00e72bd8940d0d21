#include <pthread.h>
#include <signal.h>

#include <atomic>

#include "mysql/mariadb_with_tls.hpp"
#include "server/server_test.hpp"
#include "support/mysql_database.hpp"

namespace rowlock::test {
namespace {

class over_tls : protected with_private_server, public server_test {
 protected:
  over_tls() : with_private_server{std::make_unique<mariadb_with_tls>()}, server_test{server->open()} {}
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
