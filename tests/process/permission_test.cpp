#include <grp.h>
#include <unistd.h>

#include "process/process_test.hpp"
#include "support/sqlite_database.hpp"

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;

constexpr unsigned nobody = 65534;

/// Whoever may do everything becomes nobody.
bool drop_privileges() {
  if (::geteuid() != 0) return true;
  return ::setgroups(0, nullptr) == 0 && ::setgid(nobody) == 0 && ::setuid(nobody) == 0;
}

void give_to_nobodys_group(const fs::path& path) { ASSERT_EQ(::chown(path.c_str(), ::geteuid(), nobody), 0) << path; }

std::string outcome(const std::optional<error>& e) { return e ? e->code().message() : "fine"; }

/// stranger URL: says what happens at the first use, at check, and at migrate; each with a client of its own.
int look(const std::vector<std::string>& arguments) {
  if (!drop_privileges()) return 3;
  const auto with_client = [&](auto use) {
    return outcome(error_of([&] {
      auto locks = connect_patiently(arguments.at(0));
      use(locks);
    }));
  };
  say(with_client([](client& locks) { static_cast<void>(locks.try_acquire("job")); }));
  say(with_client([](client& locks) { locks.check(); }));
  say(with_client([](client& locks) { locks.migrate(); }));
  return 0;
}

const role_registration stranger_role{"stranger", look};

class permission : public testing::Test {
 protected:
  permission() {
    auto locks = connect_patiently(file_.url());
    locks.migrate();
    locks.acquire("job").release();
  }
  void TearDown() override { fs::permissions(folder(), fs::perms::owner_all); }

  fs::path folder() const { return file_.file().parent_path(); }

  /// First use, check, migrate; as somebody who may do with the file and its folder no more than this.
  std::vector<std::string> seen_by_a_stranger(fs::perms file, fs::perms in_folder) {
    for (const auto& entry : fs::directory_iterator{folder()}) fs::permissions(entry.path(), file);
    fs::permissions(folder(), in_folder);
    child_process stranger{"stranger", {file_.url()}};
    std::vector<std::string> said{stranger.read_line(), stranger.read_line(), stranger.read_line()};
    EXPECT_EQ(stranger.wait(), 0);
    return said;
  }

  static std::vector<std::string> always(errc code) { return std::vector(3, make_error_code(code).message()); }

  static constexpr auto enter_only = fs::perms{0555};

  sqlite_database file_;
};

TEST_F(permission, denied_where_the_file_or_its_folder_may_not_be_used) {
  struct {
    const char* what;
    fs::perms file;
    fs::perms folder;
  } const too_few[] = {{"the file is read-only", fs::perms{0444}, enter_only},
                       {"the file cannot be read", fs::perms{0}, enter_only},
                       {"nothing can be made beside the file", fs::perms{0666}, enter_only},
                       {"the folder cannot be entered", fs::perms{0666}, fs::perms{0}}};
  for (const auto& each : too_few)
    EXPECT_EQ(seen_by_a_stranger(each.file, each.folder), always(errc::permission_denied)) << each.what;
}

TEST_F(permission, granted_where_file_and_folder_can_be_written) {
  EXPECT_EQ(seen_by_a_stranger(fs::perms{0666}, fs::perms{0777}), std::vector<std::string>(3, "fine"));
}

// As docs/sqlite.md has it.
TEST_F(permission, granted_to_the_group_of_file_and_folder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to a group that it is no member of";
  for (const auto& entry : fs::directory_iterator{folder()}) give_to_nobodys_group(entry.path());
  give_to_nobodys_group(folder());
  EXPECT_EQ(seen_by_a_stranger(fs::perms{0660}, fs::perms{02770}), std::vector<std::string>(3, "fine"));
}

}  // namespace
}  // namespace rowlock::test
