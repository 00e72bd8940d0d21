#include "driver/mysql/tls_use.hpp"

#include <pthread.h>

#include <atomic>

namespace rowlock::inline v1::driver {

namespace {

std::atomic<int> connections{0};
std::atomic<bool> is_inherited{false};

[[maybe_unused]] const int children_are_marked =
    pthread_atfork(nullptr, nullptr, [] { is_inherited = is_inherited || connections > 0; });

}  // namespace

tls_use::tls_use(bool is_used) noexcept : count_{is_used ? 1 : 0} { connections += count_; }
tls_use::~tls_use() { connections -= count_; }

bool tls_use::was_inherited() noexcept { return is_inherited; }

}  // namespace rowlock::inline v1::driver
