#include "server/steps.hpp"

#include <chrono>

#include "core/url.hpp"

namespace rowlock::test {

using namespace std::chrono_literals;

namespace {

const driver::backend& backend_of(const std::string& url) { return driver::backend_for(core::cut_url(url).scheme); }

dialect::table texts(const std::string& url, const driver::open_options& with, const steps::revision& revised) {
  const auto ours = backend_of(url).dialect("rowlock_", with);
  return revised ? revised(ours) : ours;
}

}  // namespace

steps::steps(const std::string& url, const driver::open_options& with, const revision& revised)
    : database_{backend_of(url).open(core::cut_url(url), with)},
      session_{database_->connect(limits())},
      sql_{texts(url, with, revised)} {}

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

core::ticket_number steps::enqueue(const store::newcomer& who) {
  const auto until = limits();
  return store::enqueue(on(until), who);
}

std::vector<store::refreshed> steps::refresh_tickets(std::span<const store::ticket_ref> some) {
  const auto until = limits();
  return store::refresh_tickets(on(until), some);
}

std::vector<bool> steps::leave(std::span<const store::ticket_ref> some) {
  const auto until = limits();
  return store::leave(on(until), some);
}

driver::limits steps::limits() { return {.deadline = base::later(base::now(), 10s)}; }

}  // namespace rowlock::test
