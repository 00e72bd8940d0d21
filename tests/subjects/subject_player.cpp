#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "history/record.hpp"
#include "process/roles.hpp"
#include "subjects/subject.hpp"

// A process that takes a lock at random, and writes down for how long it relied on it.

namespace rowlock::test {

const std::vector<subject_kind>& subjects() {
  static const auto all = [] {
    std::vector<subject_kind> out;
    const auto add = [&](const std::vector<subject_kind>& some) { out.insert(out.end(), some.begin(), some.end()); };
#ifdef ROWLOCK_WITH_POSTGRESQL
    add(postgresql_subjects());
#endif
#ifdef ROWLOCK_WITH_MYSQL
    add(mysql_subjects());
#endif
#ifdef ROWLOCK_WITH_HIREDIS
    add(redis_subjects());
#endif
    add(rowlock_subjects());
    return out;
  }();
  return all;
}

std::ostream& operator<<(std::ostream& out, const subject_kind& kind) { return out << kind.name; }

namespace {

using namespace std::chrono_literals;

constexpr int users = 2;  // of each process

class user_of_subject {
 public:
  user_of_subject(const subject_kind& kind, std::string url, const std::filesystem::path& file, unsigned seed)
      : kind_{kind}, url_{std::move(url)}, record_{file}, random_{seed} {}

  void play() try {
    if (!lock_) lock_ = kind_.connect(url_);
    const std::string name = names_of_subjects[random_() % std::size(names_of_subjects)];
    const std::chrono::milliseconds limit{random_() % 300};
    for (const auto from = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - from < limit;) {
      if (lock_->try_acquire(name)) return keep(name);
      std::this_thread::sleep_for(5ms);
    }
  } catch (const std::exception&) {  // what fails is tried again
    std::this_thread::sleep_for(5ms);
  }

 private:
  // The program relied on the lock at a moment if it was not told otherwise after that.
  void keep(const std::string& name) {
    belief b{.name = name, .token = lock_->token(), .begin = shared_clock()};
    b.end = b.begin;
    if (lock_->is_held()) {
      const auto number = record_.begins(b);
      const std::int64_t longest = random_() % 4 == 0 ? longest_hold_of_subjects().count() : 10'000;
      const auto until = b.begin + static_cast<std::int64_t>(random_()) % longest;
      bool is_held = true;
      for (auto now = b.begin; is_held; now = shared_clock()) {
        is_held = lock_->is_held();
        if (is_held) b.end = now;
        if (now >= until) break;
        std::this_thread::sleep_for(1ms);
      }
      record_.ends(number, b.end);
      if (!is_held) record_.lost();
    }
    lock_->release();
  }

  const subject_kind& kind_;
  const std::string url_;
  std::unique_ptr<subject> lock_;
  record record_;
  std::mt19937 random_;
};

/// subject_player SUBJECT URL FOLDER SEED: until it finds "enough" in the folder.
int play_a_subject(const std::vector<std::string>& arguments) {
  const auto& kind = *std::ranges::find(subjects(), arguments.at(0), &subject_kind::name);
  const std::filesystem::path folder{arguments.at(2)};
  const auto seed = static_cast<unsigned>(std::stoul(arguments.at(3)));
  std::vector<std::jthread> all;
  for (int i = 0; i < users; ++i)
    all.emplace_back([&, i] {
      const auto file = std::to_string(lasting_number()) + "-" + std::to_string(i);
      user_of_subject one{kind, arguments.at(1), folder / "records" / file, seed + static_cast<unsigned>(i)};
      while (!std::filesystem::exists(folder / "enough")) one.play();
    });
  return 0;
}

const role_registration subject_role{"subject_player", play_a_subject};

}  // namespace
}  // namespace rowlock::test
