#include <rowlock/transaction.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "api/inside.hpp"
#include "core/checks.hpp"
#include "core/wait.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/client_impl.hpp"
#include "runtime/jitter.hpp"

namespace rowlock::inline v1::detail {

std::optional<transaction_lock> lock_in(caller_transaction& tx, client& locks, const lock_name& name,
                                        std::optional<duration> wait, const lock_in_options& options) {
  return inside::of(locks)->lock_in(tx, name, wait, options);
}

void confirm(caller_transaction& tx, const held_lock& held) {
  const auto& a = inside::of(held);
  a->client->confirm(tx, a);
}

struct optimism::state {
  std::shared_ptr<client_impl> client;
  lock_name name;
  retry_options options;
  core::instant deadline;
  int tries = 1;
  attempt run{};
  std::optional<std::int64_t> version{};  // that was seen in this try
};

optimism::optimism(client& locks, const lock_name& name, const retry_options& options) {
  core::check(options);
  auto client = inside::of(locks);
  client->refuse_own(name, holder::this_thread());
  const auto deadline = core::later(driver::now(), options.within.value_or(duration::max()));
  state_ = std::make_unique<state>(
      state{.client = std::move(client), .name = name, .options = options, .deadline = deadline});
}

optimism::~optimism() = default;

attempt optimism::current() const noexcept { return state_->run; }

bool optimism::see(caller_transaction& tx) {
  state_->version = state_->client->see(tx, state_->name);
  return state_->version.has_value();
}

bool optimism::set(caller_transaction& tx) {
  return state_->client->set(tx, state_->name, state_->version.value_or(0));
}

void optimism::again() {
  auto& s = *state_;
  if (s.version.has_value()) ++s.run.number;
  const auto give_up = [&](const std::string& why) {
    throw error{errc::contention,
                "others were always faster with \"" + std::string{s.name.view()} + "\": gave up " + why};
  };
  if (s.tries >= s.options.attempts) give_up("after " + std::to_string(s.tries) + " attempts");
  const auto next = core::later(driver::now(), core::conflict_pause(s.tries++, runtime::jitter()));
  if (next >= s.deadline) give_up("when the time was over");
  s.version.reset();
  std::this_thread::sleep_for(std::max<duration>(next - driver::now(), duration::zero()));
}

bool optimism::is_conflict(const std::exception& e) noexcept {
  const auto* found = dynamic_cast<const error*>(&e);
  if (found == nullptr) return false;
  return found->code() == errc::serialization_failure || found->code() == errc::stale_snapshot ||
         found->code() == errc::deadlock;
}

}  // namespace rowlock::inline v1::detail
