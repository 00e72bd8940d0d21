// A service that keeps the tables of the locks small: it deletes what nobody has used for a day. Run one of it, or
// several on several hosts: one works, the others stand by. It ends on SIGTERM or SIGINT, as a service manager expects.
//
//   sweeper [DATABASE-URL]

#include <rowlock/rowlock.hpp>

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <exception>
#include <iostream>

namespace {

using namespace std::chrono_literals;

/// Blocks the signals in this thread and in those that it starts from now on, so that none but wait() gets them.
class termination {
 public:
  termination() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }

  void wait() const {
    int which = 0;
    sigwait(&signals_, &which);
  }

 private:
  sigset_t signals_{};
};

}  // namespace

int main(int argc, char** argv) try {
  const termination told_to_end;  // before any thread starts: a client has some

  auto locks = rowlock::client::connect(argc > 1 ? argv[1] : "sqlite:locks.db", {.application = "sweeper"});
  locks.migrate();  // leave it out where the service's role may not make tables

  // What fails is tried again at the next sweep, and goes to std::clog; set client_options::observer to have it
  // elsewhere.
  rowlock::sweeper sweeper{locks, {.every = 1min, .retention = 24h}};
  sweeper.sweep_once();  // throws what is wrong with the database now rather than in a minute
  std::cout << "sweeping" << std::endl;

  told_to_end.wait();

  sweeper.stop();  // a sweep that is under way ends within 100 ms
  const auto done = sweeper.statistics();
  std::cout << done.sweeps << " sweeps, " << done.rows << " rows, " << done.failures << " failures" << std::endl;
  return done.failures == 0 ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << "sweeper: " << e.what() << '\n';
  return 1;
}
