#include "server/steps.hpp"

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

std::vector<store::queue_position> steps::look_at_queues(std::span<const store::ticket_ref> some) {
  const auto until = limits();
  return store::look_at_queues(on(until), some);
}

driver::limits steps::limits() { return {.deadline = base::later(base::now(), 10s)}; }

}  // namespace rowlock::test
