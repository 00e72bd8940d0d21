#include "driver/sqlite/liveness_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rowlock/error.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/channel.hpp"
#include "support/errors.hpp"
#include "support/slowness.hpp"
#include "testkit/child.hpp"
#include "testkit/temp_folder.hpp"

// Liveness files: clients in this process, and in others that are killed.

namespace rowlock {
namespace {

namespace fs = std::filesystem;
using driver::liveness_files;
using test::channel;
using test::throws;
using names = std::vector<std::string>;

[[noreturn]] void wait_to_be_killed() {
  for (;;) ::pause();
}

/// The body in a forked child: 0 where it returns true, 200 where it throws.
pid_t start_child(const std::function<bool()>& body) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::alarm(60);
  try {
    ::_exit(body() ? 0 : 1);
  } catch (...) {
    ::_exit(200);
  }
}

class liveness_files_test : public testing::Test {
 protected:
  liveness_files client(const std::string& prefix = "rowlock_") const { return {folder_, prefix}; }
  fs::path file(const std::string& name) const { return folder_ / name; }
  void put(const std::string& name) const {
    fs::create_directory(folder_);
    std::ofstream{file(name)};
  }
  /// Made by a client that has gone.
  std::string made_and_left() const { return client().own(); }
  /// Descriptors of this process that lead into the folder.
  std::vector<int> descriptors() const {
    std::vector<int> out;
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator{"/proc/self/fd"})
      if (fs::read_symlink(entry.path(), gone).string().starts_with(folder_.string()))
        out.push_back(std::stoi(entry.path().filename()));
    return out;
  }

  test::temp_folder parent_;
  fs::path folder_ = parent_ / "locks.db-alive";
  std::string some_name_ = "rowlock_" + std::string(32, 'a');
  channel line_;
};

TEST_F(liveness_files_test, a_client_has_one_file_once_it_is_needed_and_keeps_it_from_programs_that_it_starts) {
  auto one = client();
  EXPECT_EQ(one.dead(), names{});
  EXPECT_FALSE(fs::exists(folder_));
  const auto name = one.own();
  EXPECT_TRUE(name.starts_with("rowlock_")) << name;
  EXPECT_EQ(one.own(), name);
  EXPECT_EQ(std::distance(fs::directory_iterator{folder_}, {}), 1);
  const auto open = descriptors();
  ASSERT_EQ(open.size(), 1U);
  EXPECT_NE(::fcntl(open[0], F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(liveness_files_test, two_clients_of_a_process_live_until_each_goes_and_leaves_its_file) {
  auto one = client();
  std::optional<liveness_files> other;
  other.emplace(folder_, "rowlock_");
  const auto mine = one.own();
  const auto theirs = other->own();
  EXPECT_NE(mine, theirs);
  EXPECT_TRUE(one.is_alive(theirs));
  EXPECT_TRUE(other->is_alive(mine));
  EXPECT_EQ(client().dead(), names{});
  other.reset();
  EXPECT_FALSE(one.is_alive(theirs));
  EXPECT_FALSE(client().is_alive(theirs));
  EXPECT_TRUE(one.is_alive(mine));
  EXPECT_EQ(one.dead(), names{theirs});
  EXPECT_TRUE(fs::exists(file(theirs)));
}

TEST_F(liveness_files_test, a_test_gives_no_lock_back) {
  auto one = client();
  const auto name = one.own();
  EXPECT_TRUE(one.is_alive(name));
  EXPECT_TRUE(client().is_alive(name));
  std::ifstream{file(name)}.get();
  std::ofstream{file(name)} << "x";
  EXPECT_TRUE(one.is_alive(name));
  EXPECT_EQ(descriptors().size(), 1U);
}

TEST_F(liveness_files_test, a_killed_process_is_dead_although_a_child_outlives_it) {
  const channel to_grandchild;
  test::child holder{start_child([&] {
    auto one = client();
    const auto name = one.own();
    if (::fork() == 0) {
      ::alarm(60);
      line_.send(name);
      line_.send(to_grandchild.receive());
      ::_exit(0);
    }
    wait_to_be_killed();
    return false;
  })};
  const auto name = line_.receive();
  const auto tester = client();
  ASSERT_TRUE(fs::exists(file(name)));
  EXPECT_TRUE(tester.is_alive(name));
  EXPECT_EQ(tester.dead(), names{});
  holder.pause();
  EXPECT_TRUE(tester.is_alive(name));
  holder.kill();
  EXPECT_FALSE(tester.is_alive(name));
  EXPECT_EQ(tester.dead(), names{name});
  to_grandchild.send("still there");
  EXPECT_EQ(line_.receive(), "still there");
}

TEST_F(liveness_files_test, a_client_is_inert_in_a_child_and_lives_on_in_the_parent) {
  auto one = std::make_unique<liveness_files>(folder_, "rowlock_");
  const auto name = one->own();
  test::child child{start_child([&] {
    if (!descriptors().empty()) return false;
    const int same_number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const bool refused = throws(errc::used_after_fork, [&] { one->own(); });
    one->remove(name);
    one.reset();
    auto of_its_own = client();
    const auto fresh = of_its_own.own();
    return refused && ::fcntl(same_number, F_GETFD) >= 0 && fresh != name && of_its_own.is_alive(fresh) &&
           of_its_own.is_alive(name);
  })};
  EXPECT_EQ(child.wait(), test::exited(0));
  EXPECT_TRUE(client().is_alive(name));
  EXPECT_EQ(one->own(), name);
  EXPECT_EQ(client().dead().size(), 1U) << "what the child made itself";
}

TEST_F(liveness_files_test, a_fork_meets_nothing_half_made) {
  if (test::is_sanitized) GTEST_SKIP() << "the child inherits the sanitizer's allocator as it is, perhaps locked";
  std::vector<std::jthread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        auto one = client();
        one.remove(one.own());
        one.own();
      }
    });
  for (int i = 0; i < 100; ++i) {
    test::child child{start_child([&] { return descriptors().empty() && !client().own().empty(); })};
    ASSERT_EQ(child.wait(), test::exited(0));
  }
}

TEST_F(liveness_files_test, what_is_missing_is_alive_and_not_dead) {
  const auto tester = client();
  EXPECT_TRUE(tester.is_alive(some_name_));
  EXPECT_EQ(tester.dead(), names{});
  fs::create_directory(folder_);
  EXPECT_TRUE(tester.is_alive(some_name_));
  EXPECT_EQ(tester.dead(), names{});
}

TEST_F(liveness_files_test, what_no_client_has_made_is_alive_and_not_dead_and_stays) {
  auto one = client();
  fs::create_directories(file(some_name_));
  put("target");
  const auto link = "rowlock_" + std::string(32, 'b');
  fs::create_symlink(file("target"), file(link));
  const auto pipe = "rowlock_" + std::string(32, 'c');
  ASSERT_EQ(::mkfifo(file(pipe).c_str(), 0666), 0);
  const names odd{
      "", ".", "..", "/", "rowlock_", "rowlock_notes", some_name_ + "a", "target", "../locks.db-alive/target"};
  for (const auto& name : odd) EXPECT_TRUE(one.is_alive(name)) << name;
  for (const auto& name : {some_name_, link, pipe}) EXPECT_TRUE(one.is_alive(name)) << name;
  EXPECT_EQ(one.dead(), names{});
  for (const auto& name : odd) one.remove(name);
  EXPECT_TRUE(fs::exists(file("target")));
  EXPECT_TRUE(fs::exists(file(some_name_)));
}

TEST_F(liveness_files_test, a_name_with_a_path_in_it_is_alive_although_the_file_is_free) {
  const auto name = made_and_left();
  auto one = client();
  for (const auto& path : {"./" + name, "../locks.db-alive/" + name, file(name).string(), name + "/", name + '\0'}) {
    EXPECT_TRUE(one.is_alive(path)) << path;
    one.remove(path);
  }
  EXPECT_FALSE(one.is_alive(name));
}

TEST_F(liveness_files_test, files_of_a_longer_prefix_are_none_of_ours) {
  const auto theirs = client("rowlock_a").own();
  const auto ours = made_and_left();
  auto one = client();
  EXPECT_TRUE(one.is_alive(theirs));
  EXPECT_EQ(one.dead(), names{ours});
  one.remove(theirs);
  EXPECT_EQ(client("rowlock_a").dead(), names{theirs});
}

TEST_F(liveness_files_test, a_removed_file_is_made_and_locked_again) {
  auto one = client();
  const auto name = one.own();
  for (const auto& removed : {file(name), folder_}) {
    fs::remove_all(removed);
    EXPECT_TRUE(one.is_alive(name));
    EXPECT_EQ(one.own(), name);
    EXPECT_TRUE(fs::exists(file(name)));
    EXPECT_TRUE(one.is_alive(name));
    EXPECT_EQ(one.dead(), names{});
    EXPECT_EQ(descriptors().size(), 1U);
  }
}

TEST_F(liveness_files_test, a_client_whose_file_is_removed_again_and_again_is_never_dead) {
  auto one = client();
  const auto name = one.own();
  const std::jthread remover{[&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      fs::remove(file(name));
      one.own();
    }
  }};
  const auto tester = client();
  int deaths = 0;
  for (int i = 0; i < 20'000; ++i) deaths += tester.is_alive(name) ? 0 : 1;
  EXPECT_EQ(deaths, 0);
}

TEST_F(liveness_files_test, removing_takes_the_file_and_the_empty_folder) {
  const auto first = made_and_left();
  const auto second = made_and_left();
  auto one = client();
  one.remove(first);
  EXPECT_EQ(one.dead(), names{second});
  EXPECT_TRUE(one.is_alive(first));
  one.remove(second);
  EXPECT_FALSE(fs::exists(folder_));
  one.remove(second);
}

TEST_F(liveness_files_test, after_its_own_file_was_removed_a_client_takes_another_name) {
  auto one = client();
  const auto before = one.own();
  one.remove(before);
  EXPECT_FALSE(fs::exists(folder_));
  EXPECT_TRUE(descriptors().empty());
  const auto after = one.own();
  EXPECT_NE(after, before);
  EXPECT_TRUE(client().is_alive(after));
  fs::remove(file(after));
  one.remove(after);
  EXPECT_NE(one.own(), after);
}

TEST_F(liveness_files_test, what_a_client_left_that_died_while_it_made_its_file_is_cleared_away) {
  const auto left = ".new-" + std::string(32, 'a');
  const auto in_the_making = ".new-" + std::string(32, 'b');
  for (const auto& name : {left, in_the_making, std::string{".new-folder"}}) put(name);
  const int maker = ::open(file(in_the_making).c_str(), O_RDWR | O_CLOEXEC);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  ASSERT_EQ(::fcntl(maker, F_OFD_SETLK, &whole), 0);
  EXPECT_EQ(client().dead(), names{});
  EXPECT_FALSE(fs::exists(file(left)));
  EXPECT_TRUE(fs::exists(file(in_the_making)));
  EXPECT_TRUE(fs::exists(file(".new-folder")));
  ::close(maker);
}

TEST_F(liveness_files_test, clearing_away_disturbs_nobody) {
  const std::jthread cleaner{[&](const std::stop_token& stop) {
    auto other = client();
    while (!stop.stop_requested())
      for (const auto& name : other.dead()) other.remove(name);
  }};
  for (int i = 0; i < 500; ++i) {
    auto one = client();
    const auto name = one.own();
    EXPECT_TRUE(fs::exists(file(name)));
    EXPECT_TRUE(one.is_alive(name));
  }
}

TEST_F(liveness_files_test, files_are_for_everybody_whom_the_umask_lets) {
  const auto before = ::umask(0027);
  auto one = client();
  const auto name = one.own();
  ::umask(before);
  EXPECT_EQ(fs::status(folder_).permissions(), fs::perms{0750});
  EXPECT_EQ(fs::status(file(name)).permissions(), fs::perms{0640});
}

TEST_F(liveness_files_test, others_need_only_read) {
  const auto left = made_and_left();
  auto one = client();
  const auto own = one.own();
  fs::permissions(parent_.path(), fs::perms{0755});
  fs::permissions(folder_, fs::perms{0555});
  for (const auto& name : {left, own}) fs::permissions(file(name), fs::perms{0444});
  const auto be_nobody = [] { return ::geteuid() != 0 || ::setuid(65534) == 0; };
  test::child stranger{start_child([&] {
    auto theirs = client();
    return be_nobody() && !theirs.is_alive(left) && theirs.is_alive(own) && theirs.dead() == names{left} &&
           throws(errc::permission_denied, [&] { theirs.own(); });
  })};
  EXPECT_EQ(stranger.wait(), test::exited(0));
  fs::permissions(file(left), fs::perms{0});
  test::child blind{start_child([&] { return be_nobody() && client().is_alive(left) && client().dead().empty(); })};
  EXPECT_EQ(blind.wait(), test::exited(0));
  fs::permissions(folder_, fs::perms{0755});
}

TEST_F(liveness_files_test, a_file_that_cannot_be_made_is_an_error_that_names_it) {
  std::ofstream{folder_} << "no folder";
  auto one = client();
  const auto failure = test::error_of([&] { return one.own(); });
  EXPECT_TRUE(test::is_error(failure, errc::database_error, {.says = {folder_.string()}}));
  fs::remove(folder_);
  EXPECT_TRUE(one.is_alive(one.own()));
}

}  // namespace
}  // namespace rowlock
