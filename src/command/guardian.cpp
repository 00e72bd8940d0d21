#include "command/guardian.hpp"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <string>
#include <system_error>

#include "base/text.hpp"
#include "command/database.hpp"
#include "command/exit_status.hpp"

namespace rowlock::command {

namespace {

struct order {
  enum class kind : std::int64_t { start, signal, end, end_later } what{};  // without padding, as it is sent
  std::int64_t number = 0;                                                  // the token, or the signal
};

struct report {
  enum class kind : int { started, not_started, over } what{};
  int number = 0;  // the command's process id, negative on a terminal; why exec failed; or its end
};

// If the other end is closed, receive() reports it.
template <class Message>
void send(const descriptor& socket, const Message& message) {
  [[maybe_unused]] const auto sent = ::send(socket.number(), &message, sizeof message, MSG_NOSIGNAL);
}

struct nothing_more {};

/// nullopt: no message has arrived. Throws nothing_more if the other end is closed.
template <class Message>
std::optional<Message> receive(const descriptor& socket, int flags) {
  Message out{};
  ssize_t size = -1;
  while ((size = ::recv(socket.number(), &out, sizeof out, flags)) < 0 && errno == EINTR) {
  }
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::nullopt;
  if (size != static_cast<ssize_t>(sizeof out)) throw nothing_more{};
  return out;
}

/// The work of the process between rowlock and the command.
class guard {
 public:
  guard(const options& given, const signals& taken, job::outputs to, const descriptor& socket)
      : given_{given}, taken_{taken}, to_{to}, socket_{socket} {}

  void work() {
    const bell never;
    while (!is_alone_ || job_) {
      taken_.wait(never, job_ ? job_->patience() : std::nullopt,
                  {.fd = is_alone_ ? -1 : socket_.number(), .events = POLLIN, .revents = 0});
      if (!is_alone_) obey();
      if (!job_) continue;
      if (const auto status = job_->status()) {
        job_.reset();
        send(socket_, report{report::kind::over, *status});
      }
    }
  }

 private:
  void obey() try {
    while (const auto next = receive<order>(socket_, MSG_DONTWAIT)) obey(*next);
  } catch (const nothing_more&) {
    is_alone_ = true;
    if (!job_) return;
    say("rowlock was killed; ending the command under the lock " + base::quoted(given_.name));
    job_->end(given_.run.grace);
  }

  void obey(const order& given) {
    if (given.what == order::kind::start) return start(given.number);
    if (!job_) return;
    if (given.what == order::kind::signal) job_->signal(static_cast<int>(given.number));
    if (given.what == order::kind::end) job_->end(given_.run.grace);
    if (given.what == order::kind::end_later) job_->end_later(given_.run.grace);
  }

  void start(std::int64_t token) try {
    ::setenv("ROWLOCK_NAME", given_.name.c_str(), 1);  // this process has no other thread
    ::setenv("ROWLOCK_TOKEN", std::to_string(token).c_str(), 1);
    job_.emplace(given_.run.command, taken_, group_, to_);
    send(socket_, report{report::kind::started, job_->is_on_terminal() ? -job_->id() : job_->id()});
  } catch (const std::system_error& e) {  // exec failed, or there are too many processes or descriptors
    send(socket_, report{report::kind::not_started, e.code().value()});
  }

  const options& given_;
  const signals& taken_;
  const job::outputs to_;
  const descriptor& socket_;
  const pid_t group_ = ::getpgrp();
  bool is_alone_ = false;
  std::optional<job> job_{};
};

// Prints the reason before this end of the socket is closed, because rowlock then kills all that is left.
[[noreturn]] void be_guard(const options& given, const signals& taken, job::outputs to, const descriptor& socket) try {
  guard it{given, taken, to, socket};
  for (const int reader : to.readers)
    if (reader >= 0) ::close(reader);
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, guard_name);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  it.work();
  ::_exit(exit_status::done);
} catch (const std::exception& e) {
  say(std::string{"the process "} + guard_name + ": " + e.what());
  ::_exit(exit_status::internal);
}

}  // namespace

guardian::guardian(const options& given, const signals& taken, job::outputs to) : given_{given} {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("socketpair");
  socket_ = descriptor{ends[0]};
  const descriptor other{ends[1]};
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // to adopt the command if the guard is killed
  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ > 0) return;
  socket_ = descriptor{};
  be_guard(given, taken, to, other);
}

guardian::~guardian() {
  socket_ = descriptor{};
  ::waitpid(pid_, nullptr, 0);
}

bool guardian::start(std::int64_t token) try {
  send(socket_, order{order::kind::start, token});
  const auto answer = receive<report>(socket_, 0).value();
  if (answer.what == report::kind::not_started) throw not_started{given_.run.command[0], answer.number};
  on_terminal_ = answer.number < 0 ? -answer.number : -1;
  return on_terminal_ > 0;
} catch (const nothing_more&) {
  kill_all_descendants();
  throw std::runtime_error{"the process rowlock-guard, which starts the command, was killed"};
}

// A SIGCONT to the whole group on a terminal reaches rowlock too. Sent by the guard, it could come after the next
// Ctrl-Z, which stops rowlock.
void guardian::signal(int number) const {
  if (number == SIGCONT && on_terminal_ > 0)
    ::kill(on_terminal_, SIGCONT);
  else
    send(socket_, order{order::kind::signal, number});
}

void guardian::end() const { send(socket_, order{order::kind::end}); }
void guardian::end_later() const { send(socket_, order{order::kind::end_later}); }

std::optional<int> guardian::status() try {
  const auto arrived = receive<report>(socket_, MSG_DONTWAIT);
  return arrived ? std::optional{arrived->number} : std::nullopt;
} catch (const nothing_more&) {
  say("the process rowlock-guard, which watches the command, was killed; killing the command");
  kill_all_descendants();
  return SIGKILL;
}

}  // namespace rowlock::command
