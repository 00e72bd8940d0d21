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

std::vector<strategies::answer> steps::acquire(std::span<const strategies::attempt> batch) {
  return strategy_.acquire(*session_, batch, limits());
}

std::vector<strategies::renewal> steps::renew(std::span<const strategies::held> batch) {
  return strategy_.renew(*session_, batch, limits());
}

std::vector<strategies::letting_go> steps::release(std::span<const strategies::held> batch) {
  return strategy_.release(*session_, batch, limits());
}

std::vector<strategies::letting_go> steps::linger(std::span<const strategies::held> batch) {
  return strategy_.linger(*session_, batch, limits());
}

driver::limits steps::limits() { return {.deadline = core::later(driver::now(), 10s)}; }

}  // namespace rowlock::test
