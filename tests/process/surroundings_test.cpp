#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <iostream>

#include "process/process_test.hpp"

// What a process has from its system, and what of it a client must leave as it is.

namespace rowlock::test {
namespace {

class surroundings : public process_test {};
ROWLOCK_SUITE_ON_EACH_DATABASE(surroundings);

// --- signals ---------------------------------------------------------------------------------------------------------

void on_signal(int /*number*/) {}

/// pipe_keeper URL: whether what it does with SIGPIPE is the same after it has had a lock.
int keep_pipe(const std::vector<std::string>& arguments) {
  ::signal(SIGPIPE, on_signal);
  {
    auto locks = connect_patiently(arguments.at(0));
    locks.acquire("job").release();
  }
  struct sigaction now {};
  ::sigaction(SIGPIPE, nullptr, &now);
  return now.sa_handler == on_signal ? 0 : 1;
}
const role_registration pipe_keeper_role{"pipe_keeper", keep_pipe};

TEST_P(surroundings, keep_what_the_program_does_with_sigpipe) {
  EXPECT_EQ(child_process("pipe_keeper", {db().url()}).wait(), 0);
}

// --- threads ---------------------------------------------------------------------------------------------------------

/// While it lives, this process gets no more threads: there is no address space for a stack of that size.
class no_threads {
 public:
  no_threads() {
    pthread_attr_t too_large;
    pthread_getattr_default_np(&before_);
    pthread_getattr_default_np(&too_large);
    pthread_attr_setstacksize(&too_large, std::size_t{1} << 47U);
    pthread_setattr_default_np(&too_large);
  }
  no_threads(const no_threads&) = delete;
  no_threads& operator=(const no_threads&) = delete;
  ~no_threads() { pthread_setattr_default_np(&before_); }

 private:
  pthread_attr_t before_{};
};

template <class Call>
bool finds_no_thread(Call call) {
  const auto e = error_of(call);
  const bool is_right = e && e->code() == errc::connection_failed && e->is_retryable() &&
                        std::string{e->what()}.find("cannot be started") != std::string::npos;
  if (!is_right) std::cerr << (e ? e->what() : "it found one") << '\n';
  return is_right;
}

/// threadless URL: 0: each call that needs a thread says so, and succeeds when there are some.
int live_without_threads(const std::vector<std::string>& arguments) {
  const auto& url = arguments.at(0);
  auto locks = connect_patiently(url);
  auto others = connect_patiently(url);
  election contest{locks, "leader"};
  const auto held = others.acquire("held");
  const auto connect = [&] { connect_patiently(url).close(); };
  const auto observe = [&] { static_cast<void>(contest.observe([](const std::optional<lock_info>&) {})); };
  const auto sweep = [&] { const sweeper one{locks}; };
  const auto ask_many = [&] { const quorum_lock one{{locks, others}, "job"}; };
  const auto by_transaction = [&] { return locks.try_acquire("row", {.strategy = strategy::for_update}).has_value(); };
  {
    const no_threads here;
    if (!finds_no_thread(connect) || !finds_no_thread(observe) || !finds_no_thread(sweep) || !finds_no_thread(ask_many))
      return 1;
    // These may need a connection more, which is made by a thread.
    error_of([&] { return locks.try_acquire_for("held", 50ms).has_value(); });
    error_of([&] { return locks.try_acquire("job").has_value(); });
    error_of(by_transaction);
  }
  connect();
  observe();
  sweep();
  ask_many();
  return by_transaction() && !locks.try_acquire_for("held", 50ms) && locks.try_acquire("job") ? 0 : 2;
}
const role_registration threadless_role{"threadless", live_without_threads};

TEST_P(surroundings, without_threads_are_told_as_errors) {
  EXPECT_EQ(child_process("threadless", {db().url()}).wait(), 0);
}

}  // namespace
}  // namespace rowlock::test
