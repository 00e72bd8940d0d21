#include "crew.hpp"

#include <stdexcept>

#include "testkit/json_line.hpp"

namespace bench {

using namespace std::chrono_literals;

worker_process::worker_process(const orders& what) : process_{worker_role} { tell(test::to_line(what)); }

// One that waits for a lock does not see that its input has ended. It is killed.
worker_process::~worker_process() { (void)process_.wait_for_end(2s); }

answer worker_process::hear() {
  auto heard = test::from_line<answer>(process_.read_line(60s));
  if (!heard.error.empty()) throw std::runtime_error{"a worker failed: " + heard.error};
  return heard;
}

void worker_process::stay_silent_for(std::chrono::milliseconds length) {
  if (!process_.is_readable_within(length)) return;
  (void)hear();
  throw std::runtime_error{"a worker did not wait for its lock"};
}

crew::crew(const orders& what, std::size_t size) {
  for (std::size_t number = 0; number < size; ++number) members_.emplace_back(what);
  for (auto& each : members_) (void)each.hear();
}

// All at once, before they are waited for one by one.
crew::~crew() {
  for (auto& each : members_) each.stop();
}

std::vector<pid_t> crew::ids() const {
  std::vector<pid_t> all;
  for (const auto& each : members_) all.push_back(each.id());
  return all;
}

std::vector<answer> crew::ask(std::string_view what) {
  for (auto& each : members_) each.tell(what);
  std::vector<answer> all;
  for (auto& each : members_) all.push_back(each.hear());
  return all;
}

}  // namespace bench
