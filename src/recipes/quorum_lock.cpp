#include <rowlock/quorum_lock.hpp>

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "api/inside.hpp"
#include "base/boot_clock.hpp"
#include "base/guarded.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "base/waits.hpp"
#include "core/checks.hpp"
#include "recipes/quorum.hpp"

namespace rowlock::inline v1 {

using namespace std::chrono_literals;

// --- the handle ------------------------------------------------------------------------------------------------------

struct held_quorum::state {
  const std::shared_ptr<recipes::quorum> in;
  const std::shared_ptr<recipes::database_threads> by;
  const lock_name name;
  const base::fork_guard process{};

  state(std::shared_ptr<recipes::quorum> held, std::shared_ptr<recipes::database_threads> threads, lock_name what)
      : in{std::move(held)}, by{std::move(threads)}, name{std::move(what)} {}

  std::optional<error> release() const {
    auto left = in->end();
    const auto number = left.members.size();
    auto failure = by->release(std::move(left.members), left.was_lost ? number : in->majority());
    if (left.was_lost)
      return error{errc::lock_lost,
                   base::quoted(name.view()) + " was lost: fewer than a majority of the databases still held it"};
    return failure;
  }
  // In a child of a fork it is never destroyed: its threads do not exist there.
  static void let_go(std::unique_ptr<state> of) noexcept try {
    if (of && of->process.is_foreign())
      static_cast<void>(of.release());
    else if (of)
      static_cast<void>(of->release());
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory; the leases will end
  }
};

held_quorum::held_quorum() noexcept = default;
held_quorum::held_quorum(std::unique_ptr<state> held) noexcept : state_{std::move(held)} {}
held_quorum::held_quorum(held_quorum&& other) noexcept = default;
held_quorum::~held_quorum() { state::let_go(std::move(state_)); }

held_quorum& held_quorum::operator=(held_quorum&& other) noexcept {
  if (this != &other) state::let_go(std::exchange(state_, std::move(other.state_)));
  return *this;
}

held_quorum::operator bool() const noexcept { return state_ != nullptr; }
const lock_name& held_quorum::name() const { return detail::not_empty(state_, "held_quorum").name; }
std::size_t held_quorum::majority() const { return detail::not_empty(state_, "held_quorum").in->majority(); }

std::vector<held_quorum::member> held_quorum::members() const {
  std::vector<member> out;
  if (why_lost() != loss_reason::none) return out;
  detail::not_empty(state_, "held_quorum").in->for_each_held([&](const recipes::quorum::member& each) {
    out.push_back({.database = each.database,
                   .token = each.lock.token(),
                   .expires_in = each.lock.expires_in().value_or(duration::zero())});
  });
  return out;
}

duration held_quorum::expires_in() const {
  const auto needed = static_cast<std::ptrdiff_t>(majority());
  auto held = members();
  if (std::ssize(held) < needed) return duration::zero();
  const auto last = held.begin() + (needed - 1);
  std::nth_element(held.begin(), last, held.end(),
                   [](const member& a, const member& b) { return a.expires_in > b.expires_in; });
  return last->expires_in;
}

std::stop_token held_quorum::lost() const noexcept {
  if (!state_ || state_->process.is_foreign()) return held_lock{}.lost();
  const auto in = state_->in;  // its callback may destroy this handle
  return in->lost();
}

loss_reason held_quorum::why_lost() const noexcept {
  if (!state_) return loss_reason::none;
  return state_->process.is_foreign() ? loss_reason::forked : state_->in->why_lost();
}

void held_quorum::release() {
  detail::not_empty(state_, "held_quorum");
  auto of = std::exchange(state_, nullptr);
  if (of->process.is_foreign()) {
    static_cast<void>(of.release());
    throw error{errc::lock_lost, "the quorum is held by the parent process"};
  }
  if (const auto failure = of->release()) throw error{*failure};
}

// --- the lock --------------------------------------------------------------------------------------------------------

namespace {

/// The databases, during the life of the quorum_lock. After close() nothing more is asked.
struct asked_databases {
  const std::vector<std::reference_wrapper<client>> clients;
  const lock_name name;
  const lock_options options;

  void ask(std::size_t which, recipes::quorum& for_whom) {
    {
      const auto s = now_.lock();
      if (s->is_closed || !for_whom.is_wanted()) return;
      ++s->under_way;
    }
    try_once(which, for_whom);
    --now_.lock()->under_way;
    none_.notify_all();
  }
  /// Returns when no call to a client is under way; none follows.
  void close() {
    closing_.request_stop();
    auto s = now_.lock();
    s->is_closed = true;
    none_.wait(s.lock(), [&] { return s->under_way == 0; });
  }

  asked_databases(std::vector<std::reference_wrapper<client>> all, lock_name what, lock_options how)
      : clients{std::move(all)}, name{std::move(what)}, options{std::move(how)} {}

 private:
  void try_once(std::size_t which, recipes::quorum& for_whom) try {
    auto held = clients[which].get().try_acquire_for(name, duration::zero(), options, closing_.get_token());
    if (held)
      for_whom.granted(which, std::move(*held));  // a lock that comes back is released here
    else
      for_whom.refused();
  } catch (const error& e) {
    for_whom.failed(e);
  } catch (const std::exception& e) {
    for_whom.failed({errc::database_error, e.what()});
  }

  struct situation {
    bool is_closed = false;
    int under_way = 0;
  };
  std::stop_source closing_;
  base::guarded<situation> now_;
  std::condition_variable_any none_;
};

void check_for_quorum(const asked_databases& what) {
  const auto& all = what.clients;
  const auto& options = what.options;
  core::check(options);
  if (options.strategy == strategy::for_update)
    throw error{errc::unsupported,
                "a quorum consists of leases, and a lock by for_update has none; use another strategy"};
  if (options.at_least != duration::zero())
    throw error{errc::unsupported,
                "a quorum_lock releases the locks of a minority, and with at_least these would stay taken; leave the "
                "option out"};
  if (options.fairness == fairness::fifo)
    throw error{errc::unsupported, "several databases have no queue in common; leave the option fairness out"};
  if (options.as)
    throw error{errc::invalid_option,
                "each handle of a quorum has leases of its own, whoever the holder is; leave the option as out"};
  if (all.empty()) throw error{errc::invalid_option, "a quorum_lock needs at least one client, and usually 3 or 5"};
  for (auto a = all.begin(); a != all.end(); ++a)
    if (std::any_of(all.begin(), a, [&](const auto& b) { return &a->get() == &b.get(); }))
      throw error{errc::invalid_option, "a quorum_lock has the same client twice; each database counts once"};
}

}  // namespace

struct quorum_lock::state {
  const std::shared_ptr<asked_databases> databases;
  const std::shared_ptr<recipes::database_threads> threads;
  const base::fork_guard process{};

  explicit state(std::shared_ptr<asked_databases> of)
      : databases{std::move(of)}, threads{std::make_shared<recipes::database_threads>(databases->clients.size())} {}

  std::size_t number() const { return databases->clients.size(); }
  std::size_t majority() const { return recipes::quorum::majority_of(number()); }

  std::shared_ptr<recipes::quorum> ask() const {
    auto out = std::make_shared<recipes::quorum>(number());
    for (std::size_t i = 0; i < number(); ++i) threads->post(i, [of = databases, out, i] { of->ask(i, *out); });
    return out;
  }
  bool is_possible_without(std::size_t failed) const { return number() - failed >= majority(); }

  [[noreturn]] void throw_too_few(std::size_t failed, const std::optional<error>& first) const {
    const auto all = std::to_string(number());
    throw error{first ? static_cast<errc>(first->code().value()) : errc::call_timed_out,
                "only " + std::to_string(number() - failed) + " of " + all + " databases answered about " +
                    base::quoted(databases->name.view()) + ", and a majority is " + std::to_string(majority()) +
                    (first ? std::string{"; the first error: "} + first->what() : "")};
  }
};

quorum_lock::quorum_lock(std::vector<std::reference_wrapper<client>> clients, lock_name name, lock_options options) {
  auto databases = std::make_shared<asked_databases>(std::move(clients), std::move(name), std::move(options));
  check_for_quorum(*databases);
  state_ = std::make_unique<state>(std::move(databases));
}

// In a child of a fork it is never destroyed: its threads do not exist there and cannot be joined.
quorum_lock::~quorum_lock() {
  if (state_->process.is_foreign())
    static_cast<void>(state_.release());
  else
    state_->databases->close();
}

held_quorum quorum_lock::acquire(std::stop_token stop) {
  return detail::granted(try_acquire_for_(duration::max(), std::move(stop)), "for a majority to grant ", &name());
}

std::optional<held_quorum> quorum_lock::try_acquire() { return try_acquire_for_(duration::zero(), {}); }

std::optional<held_quorum> quorum_lock::try_acquire_for_(duration wait, std::stop_token stop) {
  constexpr duration least_of_an_attempt = 500ms;
  constexpr duration longest_pause = 250ms;
  auto& s = *state_;
  if (s.process.is_foreign())
    throw error{errc::used_after_fork, "this quorum_lock belongs to the parent process; make one in the child"};
  const auto deadline = base::later(base::now(), std::max(wait, duration::zero()));
  bool was_answered = false;
  for (int round = 0; !stop.stop_requested(); ++round) {
    const auto began = base::now();
    const auto attempt = s.ask();
    const auto until = wait > duration::zero() ? std::max(deadline, began + least_of_an_attempt) : base::instant::max();
    if (attempt->wait(until, stop))
      return held_quorum{std::make_unique<held_quorum::state>(attempt, s.threads, s.databases->name)};
    auto answers = attempt->end();
    s.threads->release_soon(std::move(answers.members));
    if (stop.stop_requested()) break;
    if (!s.is_possible_without(answers.hopeless)) s.throw_too_few(answers.failed, answers.first_hopeless);
    was_answered = was_answered || s.is_possible_without(answers.failed);
    if (base::now() >= deadline) {
      if (!was_answered) s.throw_too_few(answers.failed, answers.first_error);
      break;
    }
    const auto most = (5ms + base::now() - began) * (1 << std::min(round, 6));
    base::pause_at_random(std::min<duration>(most, longest_pause), deadline, stop);
  }
  return std::nullopt;
}

const lock_name& quorum_lock::name() const noexcept { return state_->databases->name; }
std::size_t quorum_lock::majority() const noexcept { return state_->majority(); }

}  // namespace rowlock::inline v1
