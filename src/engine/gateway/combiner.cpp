#include "engine/gateway/combiner.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/waits.hpp"
#include "core/error_detail.hpp"

namespace rowlock::inline v1::engine {

void combined_call::was_sent(base::instant batch_ends) noexcept {
  const std::lock_guard alone{mutex_};
  batch_ends_ = batch_ends;
}

// A batch may take as long as the request with the most time. If the batch ends while this thread may still wait, the
// thread waits for its end, because then the outcome is known.
base::instant combined_call::waits_until() const noexcept {
  return batch_ends_ && *batch_ends_ <= until_.last ? until_.last : until_.until.deadline;
}

bool combined_call::is_over() const { return has_ended_ || stop().stop_requested() || base::now() >= waits_until(); }

combined_call::outcome combined_call::present() {
  const std::lock_guard alone{mutex_};
  if (has_ended_) return outcome::ended;
  return batch_ends_ ? outcome::unknown : outcome::not_sent;
}

combined_call::answered::answered(combined_call& one, waker* by) : one_{one} {
  const std::lock_guard alone{one_.mutex_};
  one_.caller_ = by;
}

combined_call::answered::~answered() {
  const std::lock_guard alone{one_.mutex_};
  one_.caller_ = nullptr;
}

void combined_call::answered::block() {
  const std::stop_callback wake{one_.stop(), [this] {
                                  { const std::lock_guard not_between_look_and_sleep{one_.mutex_}; }
                                  one_.ended_.notify_one();
                                }};
  std::unique_lock lock{one_.mutex_};
  while (!one_.is_over()) one_.ended_.wait_for(lock, base::length_of_wait(one_.waits_until()));
}

bool combined_call::answered::is_over() {
  const std::lock_guard alone{one_.mutex_};
  return one_.is_over();
}

base::instant combined_call::answered::until() {
  const std::lock_guard alone{one_.mutex_};
  return one_.waits_until();
}

// The mutex decides which of the two reports it: this thread, or the worker that ends it.
void combined_call::give_up(heir then) {
  {
    const std::lock_guard alone{mutex_};
    if (!has_ended_) {
      heir_ = std::move(then);
      return;
    }
  }
  then(fate_of());
}

combined_call::fate combined_call::fate_of() const {
  if (other_failure_) return fate::unknown;
  if (failure_) return failure_->outcome_is_unknown() ? fate::unknown : fate::nothing;
  return has_effect() ? fate::done : fate::nothing;
}

void combined_call::throw_if_failed() const {
  if (failure_) throw error{*failure_};
  if (other_failure_) std::rethrow_exception(other_failure_);
}

namespace {

[[noreturn]] void throw_left_behind(const std::stop_token& stop, bool was_sent) {
  if (!was_sent && stop.stop_requested())
    throw error{errc::cancelled, "stopped while waiting for the requests of other threads"};
  if (!was_sent)
    throw error{errc::pool_exhausted, "the database took the whole time limit for the requests of other threads"};
  if (stop.stop_requested())
    throw detail::error_access::make(errc::cancelled, "stopped while the database answered", {.outcome_unknown = true});
  throw detail::error_access::make(errc::call_timed_out, "no answer from the database within the time limit",
                                   {.retryable = true, .outcome_unknown = true});
}

// Not about the connection, the time or the client: then another request of the batch may be the cause.
bool may_be_about_one(const error& e) {
  return !e.connection_is_unusable() && !e.outcome_is_unknown() && e.code() != errc::pool_exhausted &&
         e.code() != errc::cancelled && e.code() != errc::client_closed;
}

base::instant last_deadline(std::span<const combined_call_ptr> some) {
  base::instant out = base::instant::min();
  for (const auto& each : some) out = std::max(out, each->deadline());
  return out;
}

bool goes_before(const combined_call_ptr& a, const combined_call_ptr& b) {
  if (&a->verb() != &b->verb()) return a->verb().what_for() < b->verb().what_for();
  return a->name() < b->name();
}

}  // namespace

// --- a thread with a request -----------------------------------------------------------------------------------------

// Not inline: a coroutine may go on in another thread than it began in.
namespace {
thread_local struct {
  const combiner* of = nullptr;
  base::instant ended{};
} last_call;
}  // namespace

combiner::caller::caller(combiner& of) noexcept
    : of_{of}, pause_{last_call.of == &of ? base::now() - last_call.ended : duration::max()} {
  of_.callers_.fetch_add(1, std::memory_order_relaxed);
}

combiner::caller::~caller() {
  of_.callers_.fetch_sub(1, std::memory_order_relaxed);
  last_call = {.of = &of_, .ended = base::now()};
}

// The thread that carries a call without one does not wait for the database while other calls wait for that thread.
bool combiner::goes_straight(flow& by, std::string_view name, duration pause) {
  const bool may_wait = !by.is_urged();
  const auto state = state_.lock();
  if (is_stuck(*state)) state->next.callers_are_not_prompt();
  state->next.came(by.has_thread() ? pause : duration::max());  // a call without one does not come back
  const bool is_free = options_.by_name ? !is_busy_with(*state, name) : has_free_line(*state);
  const bool may = (may_wait && is_free && !options_.of_all_names) || !has_workers(*state);
  if (!may) return false;
  if (options_.by_name) state->names.emplace(name);
  begin_line(*state, 1);
  return true;
}

// Of prompt callers some are always between two calls.
bool combiner::has_free_line(const contents& in) const noexcept {
  const auto now = callers_.load(std::memory_order_relaxed);
  const auto callers = has_prompt_callers(in) ? std::max(now, in.callers) : now;
  const auto most = callers <= few(in) ? std::max(few(in), lines(in)) : lines(in);
  return in.queue.empty() && in.busy < most && !is_gathering(in);
}

bool combiner::has_prompt_callers(const contents& in) const noexcept {
  const bool waits_for_rows = options_.by_name && !options_.of_all_names;
  return in.next.callers_are_prompt() && in.callers <= most_on_one_line && !waits_for_rows;
}

bool combiner::is_stuck(const contents& in) const noexcept {
  return has_prompt_callers(in) && in.busy > 0 && base::now() - in.progress >= in.next.patience();
}

std::size_t combiner::few(const contents& in) const noexcept {
  return has_prompt_callers(in) ? options_.few / 2 : options_.few;
}

std::size_t combiner::lines(const contents& in) const noexcept {
  return has_prompt_callers(in) ? std::min<std::size_t>(options_.lines, 1) : options_.lines;
}

bool combiner::is_busy_with(const contents& in, std::string_view name) {
  return in.names.contains(name) ||
         std::ranges::any_of(in.queue, [&](const combined_call_ptr& c) { return c->name() == name; });
}

bool combiner::is_gathering(const contents& in) noexcept {
  return in.next.is_on(in.queue.size() + in.sent, base::now());
}

void combiner::begin_line(contents& in, std::size_t requests) noexcept {
  ++in.busy;
  in.progress = base::now();
  in.sent += requests;
}

// The name of a request that has gone straight; the names of a batch are free already.
void combiner::leave_line(std::optional<std::string_view> name, base::instant began) noexcept {
  const auto state = state_.lock();
  --state->busy;
  state->progress = base::now();
  if (options_.by_name && name) state->names.erase(state->names.find(*name));
  if (name) have_ended(*state, 1, began);
  // The thread of a batch gathers the next one itself.
  if (is_gathering(*state) ? name.has_value() : has_work(*state)) work_.notify_one();
}

void combiner::end_batch(std::span<const combined_call_ptr> some, base::instant began) noexcept {
  const auto state = state_.lock();
  have_ended(*state, some.size(), began);
  if (!options_.by_name) return;
  for (const auto& each : some) state->names.erase(state->names.find(each->name()));
  if (has_work(*state)) work_.notify_one();
}

// Before their callers know it, so that these are counted.
void combiner::have_ended(contents& in, std::size_t count, base::instant began) const noexcept {
  const auto now = base::now();
  in.sent -= count;
  in.callers = callers_.load(std::memory_order_relaxed);
  in.next.ended(now - began);
  if (has_prompt_callers(in) && in.callers > std::max<std::size_t>(few(in), 1) && !in.workers.empty())
    in.next.begin(in.callers, now);
}

std::deque<combined_call_ptr>::iterator combiner::first_due(contents& in) const {
  if (options_.by_name)
    return std::ranges::find_if(in.queue, [&](const combined_call_ptr& c) { return !in.names.contains(c->name()); });
  return in.busy < lines(in) ? in.queue.begin() : in.queue.end();
}

task<void> combiner::wait_for(flow& by, const combined_call_ptr& one, combined_call_ptr& left) {
  combined_call::answered end{*one, by.wakes()};
  co_await by.until(end);
  auto outcome = one->present();
  if (outcome == combined_call::outcome::not_sent && !withdraw(one)) {  // a worker has taken it meanwhile
    co_await by.until(end);
    outcome = one->present();
  }
  if (outcome == combined_call::outcome::unknown) left = one;
  if (outcome != combined_call::outcome::ended)
    throw_left_behind(one->stop(), outcome == combined_call::outcome::unknown);
  one->throw_if_failed();
}

void combiner::enqueue(const combined_call_ptr& one) {
  const auto state = state_.lock();
  state->queue.push_back(one);
  if (is_due(*state) || (next_look(*state) && base::now() >= state->watched_until)) work_.notify_one();
}

// false: a worker has taken it.
bool combiner::withdraw(const combined_call_ptr& one) {
  const auto state = state_.lock();
  return std::erase(state->queue, one) > 0;
}

// --- the workers -----------------------------------------------------------------------------------------------------

// They start when a request first has to wait. If no thread can be started, every request goes straight.
bool combiner::has_workers(contents& in) {
  if (in.is_stopped) return false;
  try {
    while (in.workers.size() < options_.lines)
      in.workers.emplace_back([this](const std::stop_token& stop) { work(stop); });
  } catch (const std::system_error&) {  // the existing ones are enough
  }
  return !in.workers.empty();
}

void combiner::stop() noexcept {
  std::vector<std::jthread> workers;
  {
    const auto state = state_.lock();
    state->is_stopped = true;
    workers.swap(state->workers);
  }
  for (auto& each : workers) each.request_stop();
}

void combiner::work(const std::stop_token& stop) {
  for (;;) {
    const auto batch = next_batch(stop);
    if (batch.empty()) return;
    const line mine{*this, std::nullopt};
    carry_out(batch, stop);
  }
}

// A worker is not woken for these two: the end of a gathering, and a line that is stuck while prompt callers wait.
std::optional<base::instant> combiner::next_look(const contents& in) const noexcept {
  if (is_gathering(in)) return in.next.until();
  if (in.queue.empty() || in.busy == 0 || !has_prompt_callers(in)) return std::nullopt;
  return in.progress + in.next.patience();
}

// Empty: stopped.
std::vector<combined_call_ptr> combiner::next_batch(const std::stop_token& stop) {
  auto state = state_.lock();
  while (!stop.stop_requested() && !is_due(*state)) {
    if (const auto look = next_look(*state)) {
      state->watched_until = *look;
      work_.wait_for(state.lock(), stop, *look - base::now(), [&] { return is_due(*state); });
      state->watched_until = {};
    } else {
      work_.wait(state.lock(), stop, [&] { return is_due(*state) || next_look(*state); });
    }
    if (is_stuck(*state)) state->next.callers_are_not_prompt();
  }
  if (stop.stop_requested()) return {};
  state->next.end();
  const auto first = *first_due(*state);
  auto batch = take_batch(*state, first);
  if (options_.by_name)
    for (const auto& each : batch) state->names.emplace(each->name());
  begin_line(*state, batch.size());
  return batch;
}

// In the order of their arrival. A request whose name the batch already contains remains first in the queue, unless the
// names of batches exclude each other.
std::vector<combined_call_ptr> combiner::take_batch(contents& from, const combined_call_ptr& first) const {
  std::vector<combined_call_ptr> batch;
  std::deque<combined_call_ptr> rest;
  std::set<std::pair<const combinable_verb*, std::string_view>> names;
  for (auto& each : from.queue) {
    const bool fits = options_.mixes_verbs || &each->verb() == &first->verb();
    const auto is_wanted = [&] {
      if (options_.of_all_names) return !from.names.contains(each->name());
      return options_.by_name ? each->name() == first->name() : names.emplace(&each->verb(), each->name()).second;
    };
    const bool joins = fits && batch.size() < combined_batch_size && is_wanted();
    if (joins) {
      batch.push_back(std::move(each));
    } else {
      rest.push_back(std::move(each));
    }
  }
  from.queue = std::move(rest);
  const auto ends = last_deadline(batch);
  for (const auto& each : batch) each->was_sent(ends);
  std::sort(batch.begin(), batch.end(), goes_before);
  return batch;
}

// A request that the database refuses fails alone: the others are repeated without it, by halves.
void combiner::carry_out(std::span<const combined_call_ptr> some, const std::stop_token& stop) noexcept {
  const auto began = base::now();
  const auto end = [&](auto how) {
    end_batch(some, began);  // first: a caller may ask for its name again at once, and goes straight
    for (const auto& each : some) how(*each);
  };
  try {
    ask(some, {.deadline = last_deadline(some), .stop = stop});
    end([](combined_call& c) { c.succeeded(); });
  } catch (const error& e) {
    if (some.size() > 1 && may_be_about_one(e)) {
      carry_out(some.first(some.size() / 2), stop);
      carry_out(some.subspan(some.size() / 2), stop);
    } else {
      end([&](combined_call& c) { c.failed(e); });
    }
  } catch (...) {
    end([](combined_call& c) { c.failed(std::current_exception()); });
  }
}

void combiner::ask(std::span<const combined_call_ptr> some, const driver::limits& until) {
  const auto all = [&](const store::access& db) {
    if (!options_.mixes_verbs || some.size() == 1) return ask_by_verb(db, some);
    db.session.exclusively([&] { ask_by_verb(db, some); }, until);
  };
  run_(until, some.front()->verb().what_for(), std::ref(all));
}

void combiner::ask_by_verb(const store::access& db, std::span<const combined_call_ptr> some) const {
  while (!some.empty()) {
    auto& verb = some.front()->verb();
    const auto other =
        std::find_if(some.begin(), some.end(), [&](const combined_call_ptr& c) { return &c->verb() != &verb; });
    const auto count = static_cast<std::size_t>(other - some.begin());
    verb.ask(db, some.first(count));
    some = some.subspan(count);
  }
}

}  // namespace rowlock::inline v1::engine
