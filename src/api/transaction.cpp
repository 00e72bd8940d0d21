#include <rowlock/transaction.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "api/inside.hpp"
#include "base/boot_clock.hpp"
#include "base/text.hpp"
#include "base/waits.hpp"
#include "core/checks.hpp"
#include "core/wait.hpp"

namespace rowlock::inline v1::detail {

std::optional<transaction_lock> lock_in(caller_transaction& tx, client& locks, const lock_name& name,
                                        std::optional<duration> wait, const lock_in_options& options,
                                        const std::stop_token& stop) {
  auto out = inside::of(locks)->transactions.lock_in(tx, name, wait, options, stop);
  if (!out && !wait) throw error{errc::cancelled, "stopped while waiting for " + base::quoted(name.view())};
  return out;
}

void confirm(caller_transaction& tx, const held_lock& held) {
  inside::client_of(held).transactions.confirm(tx, inside::lease_of(held));
}

struct optimism::state {
  state(std::shared_ptr<engine::client_core> by, const lock_name& what, const retry_options& how)
      : client{std::move(by)},
        name{what},
        options{how},
        deadline{base::later(base::now(), how.within.value_or(duration::max()))} {
    client->transactions.begin_optimistically(name);
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    give_back();
    client->transactions.end_optimistically(name);
  }

  std::shared_ptr<engine::client_core> client;
  lock_name name;
  retry_options options;
  base::instant deadline;
  int tries = 1;
  attempt run{};
  std::optional<std::int64_t> version{};  // as seen in this try
  engine::lease_ptr kept{};               // a lock under which no other client can disturb this try

  void give_back() noexcept {
    if (kept) client->transactions.give_back(std::exchange(kept, nullptr));
  }
};

namespace {

// After so many tries that others have disturbed, the next one holds the name exclusively.
constexpr int patient_tries = 3;

}  // namespace

optimism::optimism(client& locks, const lock_name& name, const retry_options& options) {
  core::check(options);
  auto client = inside::of(locks);
  client->transactions.refuse_own(name, holder::this_thread());
  state_ = std::make_unique<state>(std::move(client), name, options);
}

optimism::~optimism() = default;

attempt optimism::current() const noexcept { return state_->run; }

bool optimism::see(caller_transaction& tx) {
  if (state_->kept) {
    state_->client->transactions.see_kept(tx);
    state_->version = 0;
    return true;
  }
  state_->version = state_->client->transactions.see(tx, state_->name);
  return state_->version.has_value();
}

bool optimism::set(caller_transaction& tx) {
  if (state_->kept) return state_->client->transactions.set_kept(tx, state_->kept);
  return state_->client->transactions.set(tx, state_->name, state_->version.value_or(0));
}

void optimism::again() {
  auto& s = *state_;
  s.give_back();
  if (s.version.has_value()) ++s.run.number;
  const auto give_up = [&](const std::string& why) {
    throw error{errc::contention,
                "other transactions changed " + base::quoted(s.name.view()) + " in every attempt; gave up " + why};
  };
  if (s.tries >= s.options.attempts) give_up("after " + std::to_string(s.tries) + " attempts");
  const auto next = base::later(base::now(), core::conflict_pause(s.tries++, base::jitter()));
  if (next >= s.deadline) give_up("when the time limit had passed");
  s.version.reset();
  if (s.tries > patient_tries) {
    const auto longest = base::later(base::now(), s.client->options().call_timeout);
    s.kept = s.client->transactions.keep(s.name, std::min(s.deadline, longest));
  } else {
    s.client->transactions.pause_until(next);
  }
}

bool optimism::is_conflict(const std::exception& e) noexcept {
  const auto* found = dynamic_cast<const error*>(&e);
  if (found == nullptr) return false;
  return found->code() == errc::serialization_failure || found->code() == errc::stale_snapshot ||
         found->code() == errc::deadlock;
}

}  // namespace rowlock::inline v1::detail
