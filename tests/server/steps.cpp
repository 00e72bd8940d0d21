#include "server/steps.hpp"

#include "store/inspection.hpp"

#include <chrono>

#include "core/url.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::test {

using namespace std::chrono_literals;

namespace {

const driver::backend& backend_of(const std::string& url) { return driver::backend_for(core::cut_url(url).scheme); }

}  // namespace

steps::steps(const std::string& url, const driver::open_options& with)
    : database_{backend_of(url).open(core::cut_url(url), with)},
      session_{database_->connect(limits())},
      sql_{backend_of(url).sheet("rowlock_", with)} {}

std::vector<strategies::answer> steps::acquire(std::span<const strategies::acquire_args> batch) {
  const auto until = limits();
  return strategy_.acquire(on(until), batch);
}

strategies::answer steps::acquire(const strategies::acquire_args& one, strategy by) {
  const auto until = limits();
  if (by == strategy::unique_index) return strategy_.acquire(on(until), {&one, 1}).at(0);
  if (by == strategy::version_cas)
    return strategies::algorithm{strategies::version_cas}.acquire(on(until), {&one, 1}).at(0);
  if (!database_->has_row_locks())
    return strategies::algorithm{strategies::liveness_rows}.acquire(on(until), {&one, 1}).at(0);
  session_->begin(until);
  auto out = strategies::for_update{}.acquire(on(until), one);
  session_->rollback(until);
  return out;
}

std::vector<store::renewal> steps::renew(std::span<const store::lease_ref> batch) {
  const auto until = limits();
  return store::renew(on(until), batch);
}

std::vector<store::release_outcome> steps::release(std::span<const store::lease_ref> batch) {
  const auto until = limits();
  return store::release(on(until), batch);
}

std::vector<store::release_outcome> steps::defer_release(std::span<const store::lease_ref> batch) {
  const auto until = limits();
  return store::defer_release(on(until), batch);
}

bool steps::free(std::string_view name, fencing_token version) {
  const auto until = limits();
  return store::free(on(until), name, version);
}

core::ticket_number steps::enqueue(const store::newcomer& who) {
  const auto until = limits();
  return store::enqueue(on(until), who);
}

std::vector<store::refreshed> steps::refresh_tickets(std::span<const store::ticket_ref> some) {
  const auto until = limits();
  return store::refresh_tickets(on(until), some);
}

std::vector<store::turn> steps::look_at_queues(std::span<const store::ticket_ref> some) {
  const auto until = limits();
  return store::look_at_queues(on(until), some);
}

std::vector<bool> steps::leave(std::span<const store::ticket_ref> some) {
  const auto until = limits();
  return store::leave(on(until), some);
}

driver::limits steps::limits() { return {.deadline = base::later(base::now(), 10s)}; }

}  // namespace rowlock::test
