#include "process/restless_crew.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>
#include <utility>

namespace rowlock::test {

restless_crew::restless_crew(std::filesystem::path folder, std::size_t size, std::function<member()> start)
    : folder_{std::move(folder)}, start_{std::move(start)} {
  while (all_.size() < size) all_.push_back(this->start());
}

restless_crew::member restless_crew::start() const {
  auto out = start_();
  out->expect("going");
  return out;
}

void restless_crew::disturb(member& one, std::mt19937& random, std::chrono::milliseconds longest) {
  if (random() % 2 == 0) {
    one->kill();
    one = start();
  } else {
    std::uniform_int_distribution time{std::chrono::milliseconds::rep{}, longest.count()};
    one->pause();
    std::this_thread::sleep_for(std::chrono::milliseconds{time(random)});
    one->resume();
  }
}

void restless_crew::disturb_some(int number, std::mt19937& random, std::chrono::milliseconds longest) {
  for (int i = 0; i < number; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{100 + random() % 200});
    disturb(any(random), random, longest);
  }
}

void restless_crew::end() {
  std::ofstream{folder_ / "enough"}.flush();
  for (auto& each : all_) EXPECT_EQ(each->wait(), 0);
}

}  // namespace rowlock::test
