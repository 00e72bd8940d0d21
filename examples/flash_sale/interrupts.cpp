#include "interrupts.hpp"

#include <sys/signalfd.h>

#include <cerrno>
#include <system_error>

namespace flash_sale {

interrupts::interrupts() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ours, each);
  if (const int code = ::pthread_sigmask(SIG_BLOCK, &ours, &before_); code != 0)
    throw std::system_error{code, std::generic_category(), "blocking signals"};
  // A worker that died, or a closed terminal, is noticed where it is written to.
  ::signal(SIGPIPE, SIG_IGN);
  descriptor_ = file_descriptor{::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (descriptor_.get() < 0) throw std::system_error{errno, std::generic_category(), "signalfd"};
}

interrupts::~interrupts() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void interrupts::check() const {
  signalfd_siginfo came{};
  if (::read(descriptor(), &came, sizeof came) == sizeof came) throw interrupted{static_cast<int>(came.ssi_signo)};
}

}  // namespace flash_sale
