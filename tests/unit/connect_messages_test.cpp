#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "testkit/temp_folder.hpp"

// Everything that may be wrong with what is given to client::connect, and the complete message about it. Those that
// need a server are in server/connect_messages_test.cpp.
namespace rowlock::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr unsigned nobody = 65534;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// Connects, makes the tables and takes a lock: whatever is wrong is said at one of them.
std::string said_about(const std::string& url, client_options options = {}) {
  options.observer = silent();
  const auto e = error_of([&] {
    auto locks = client::connect(url, options);
    locks.migrate();
    locks.acquire("job").release();
  });
  return e ? e->what() : "nothing";
}

// --- URLs ------------------------------------------------------------------------------------------------------------

struct wrong_url {
  std::string url;
  std::string message;
};
// Otherwise the suite's list shows bytes.
void PrintTo(const wrong_url& of, std::ostream* to) { *to << of.url; }  // NOLINT(readability-identifier-naming)

const std::string no_url =
    "this is not a database URL; write sqlite:path, postgresql://host/database or mysql://host/database";
const std::string check_server =
    "; check that the server runs, and that the URL has the right host, port and encryption";

class connect_messages : public testing::TestWithParam<wrong_url> {};

TEST_P(connect_messages, of_a_url_that_cannot_be_read) { EXPECT_EQ(said_about(GetParam().url), GetParam().message); }

INSTANTIATE_TEST_SUITE_P(
    any, connect_messages,
    testing::Values(
        wrong_url{"", no_url}, wrong_url{"/var/lib/locks.db", no_url}, wrong_url{"host=db password=secret", no_url},
        wrong_url{"redis://user:secret@localhost",
                  "rowlock knows no database \"redis:\"; a URL begins with sqlite:, postgresql:// or mysql://"},
        wrong_url{"sqllite:locks.db",
                  "rowlock knows no database \"sqllite:\"; a URL begins with sqlite:, postgresql:// or mysql://; did "
                  "you mean sqlite?"},
        wrong_url{"sqlite:\xff.db", "a database URL must be UTF-8 without NUL; write other bytes as %XX"}));

INSTANTIATE_TEST_SUITE_P(
    sqlite, connect_messages,
    testing::Values(
        wrong_url{"sqlite:", "this sqlite: URL has no path; write the path of a file, as in sqlite:locks.db"},
        wrong_url{"sqlite://host/locks.db", "a sqlite: URL has no host; write sqlite:path or sqlite:///absolute/path"},
        wrong_url{"sqlite:100%.db",
                  "the path of this sqlite: URL has a % without two hexadecimal digits, or is not UTF-8 without NUL; "
                  "write a '%' as %25"},
        wrong_url{"sqlite:locks.db?mode=ro",
                  "a sqlite: URL takes no options, such as \"mode\"; leave out the '?' and the text after it, or write "
                  "%3F for a '?' in the path"}));

#ifdef ROWLOCK_WITH_MYSQL
const std::string mysql_form = "; write mysql://user:password@host:port/database?option=value";
const std::string mysql_options =
    "; the options are ssl-mode, ssl-ca, ssl-capath, ssl-cert, ssl-key, ssl-cipher and socket";

INSTANTIATE_TEST_SUITE_P(
    mysql, connect_messages,
    testing::Values(
        wrong_url{"mysql:app:secret@db/shop", "a mysql: URL must have // after its scheme" + mysql_form},
        wrong_url{"mysql://app:secret@db", "this URL has no database" + mysql_form},
        wrong_url{"mysql://app:sec/ret@db/shop",
                  "the port of this URL is not a number from 1 to 65535; in a password, write / as %2F and : as %3A"},
        wrong_url{"mysql://app:secret@[::1/shop", "the host of this URL has a [ without a ]" + mysql_form},
        wrong_url{"mysql://app:secret@[::1]x/shop", "only a port may follow the host in brackets" + mysql_form},
        wrong_url{"mysql://app:secret@a,b/shop",
                  "this URL has several hosts, and a mysql: URL has one; name the primary, or a proxy that finds it"},
        wrong_url{"mysql://app:%zz@db/shop",
                  "the password of this URL must be UTF-8 without NUL, with %XX for : / ? # @ & = and %"},
        wrong_url{"mysql://app:secret@db/shop?sslmode=REQUIRED",
                  "a mysql: URL has no option \"sslmode\"" + mysql_options + "; did you mean ssl-mode?"},
        wrong_url{"mysql://app:secret@db/shop?charset=latin1",
                  "a mysql: URL has no option \"charset\"" + mysql_options},
        wrong_url{"mysql://app:12/34?sec=ret@db/shop",
                  "an option of this URL is unknown, or the '?' is part of the password and must be written %3F" +
                      mysql_options},
        wrong_url{"mysql://app:secret@db/shop?ssl-mode", "an option of this URL has no value" + mysql_form},
        wrong_url{"mysql://app:secret@db/shop?socket=/a&socket=/b",
                  "the option \"socket\" is given twice in this URL; leave one out"},
        wrong_url{"mysql://app:secret@db/shop?ssl-mode=on",
                  "the option ssl-mode must be DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY"},
        wrong_url{
            "mysql://app:secret@db/shop?ssl-mode=VERIFY_CA",
            "ssl-mode VERIFY_CA and VERIFY_IDENTITY need a certificate authority to trust; add ssl-ca or ssl-capath"},
        wrong_url{
            "mysql://app:secret@db/shop?ssl-ca=/ca.pem",
            "this URL has certificates, but its ssl-mode does not require encryption; set ssl-mode=VERIFY_IDENTITY"}));

TEST(connect_messages_of_mysql, say_that_nobody_listens) {
  EXPECT_THAT(
      said_about("mysql://app:secret@127.0.0.1:1/shop"),
      testing::MatchesRegex("connecting to MySQL \\(127\\.0\\.0\\.1:1/shop\\) failed: [^:]*127\\.0\\.0\\.1[^;]*; "
                            "check that the server runs, and that the URL has the right host, port and "
                            "encryption"));
}
#endif

#ifdef ROWLOCK_WITH_POSTGRESQL
const std::string libpq_cannot =
    "libpq cannot read this URL; write postgresql://user:password@host:port/database?option=value, with %XX for : / ? "
    "# @ & = and % in a part";
const std::string libpq_options =
    "; the options are libpq's parameters, such as sslmode, sslrootcert, connect_timeout, application_name, options "
    "and target_session_attrs";

INSTANTIATE_TEST_SUITE_P(
    postgresql, connect_messages,
    testing::Values(
        wrong_url{"postgresql:host=db password=secret",
                  "a postgresql: URL must have // after its scheme; write "
                  "postgresql://user:password@host:port/database?option=value"},
        wrong_url{"postgresql://app:sec%zzret@db/shop", libpq_cannot},
        wrong_url{"postgresql://app:sec@ret@db/shop",
                  "the host of this URL has an @, or its port is not a number from 1 to 65535; in a password, write @ "
                  "as %40, / as %2F and : as %3A"},
        wrong_url{"postgresql://app:secret@db/shop?ssl-mode=require",
                  "a postgresql: URL has no option \"ssl-mode\"" + libpq_options + "; did you mean sslmode?"},
        wrong_url{"postgresql://app:secret@db/shop?sslmode=require&charset=latin1",
                  "a postgresql: URL has no option \"charset\"" + libpq_options},
        wrong_url{"postgresql://app:12/34?sec=ret@db/shop", libpq_cannot},
        wrong_url{"postgresql://app:secret@db/shop?sslmode", "an option of this URL has no value; write option=value"},
        wrong_url{"postgresql://app:secret@127.0.0.1:1/shop?sslmode=on",
                  "connecting to PostgreSQL (127.0.0.1:1/shop) failed: invalid sslmode value: \"on\"" + check_server},
        wrong_url{"postgresql://app:secret@127.0.0.1:1/shop",
                  "connecting to PostgreSQL (127.0.0.1:1/shop) failed: Connection refused" + check_server},
        // What is taken for the name of the database has an '@', so it may be a part of the password.
        wrong_url{"postgresql://127.0.0.1:1/sec/ret@db/shop",
                  "connecting to PostgreSQL (127.0.0.1:1) failed: Connection refused" + check_server}));
#endif

// --- options ---------------------------------------------------------------------------------------------------------

TEST(connect_messages_of_options, say_what_is_allowed) {
  const auto said = [](client_options options) { return said_about("sqlite::memory:", std::move(options)); };
  EXPECT_EQ(said({.application = "a:b"}), "application must be 1 to 60 bytes of printable ASCII without ':'");
  EXPECT_EQ(said({.connections = 0}), "connections is 0; it must be at least 1");
  EXPECT_EQ(said({.held_transactions = 0}), "held_transactions is 0; it must be at least 1");
  EXPECT_EQ(said({.connect_timeout = 0ms}), "connect_timeout is 0 ms; it must be between 1 ms and 1 h");
  EXPECT_EQ(said({.transaction_limit = 10ms}), "transaction_limit is 10 ms; it must be between 1 s and 1 h");
  EXPECT_EQ(said({.transaction_pooling = true}),
            "transaction_pooling is for PostgreSQL behind PgBouncer; leave it off for SQLite");
  EXPECT_EQ(said({.durable_release = true}),
            "durable_release is for PostgreSQL; leave it off for SQLite, where locks end with the host anyway");
  EXPECT_EQ(said({.table_prefix = "Locks"}), "table_prefix must match [a-z_][a-z0-9_]{0,31}");
}

// --- SQLite files ----------------------------------------------------------------------------------------------------

/// What connecting says about a file in a folder of the test's own; the folder is FOLDER in the messages, and the user
/// UID. A superuser, who may do everything, becomes nobody.
class connect_messages_of_sqlite : public testing::Test {
 protected:
  connect_messages_of_sqlite() { fs::permissions(folder_.path(), fs::perms{0755}); }
  void TearDown() override { fs::permissions(folder_.path(), fs::perms::owner_all); }

  fs::path at(std::string_view file) const { return file.empty() ? folder_.path() : folder_ / file; }
  void permit(std::string_view file, unsigned mode) const { fs::permissions(at(file), fs::perms{mode}); }

  std::string said(std::string_view file) const {
    const auto out = replaced(said_about("sqlite:" + at(file).string()), folder_.path().string(), "FOLDER");
    return replaced(out, "uid " + std::to_string(::geteuid()), "uid UID");
  }
  std::string said_to_nobody(std::string_view file) const {
    const bool is_superuser = ::geteuid() == 0;
    if (is_superuser && ::seteuid(nobody) != 0) ADD_FAILURE() << "this superuser cannot become nobody";
    auto out = said(file);
    if (is_superuser && ::seteuid(0) != 0) ADD_FAILURE() << "nobody cannot become the superuser again";
    return out;
  }

 private:
  const temp_folder folder_;
};

TEST_F(connect_messages_of_sqlite, on_what_is_no_database) {
  EXPECT_EQ(
      said("no/such/locks.db"),
      "the folder FOLDER/no/such of the SQLite file FOLDER/no/such/locks.db does not exist; create it, or correct "
      "the path");
  std::ofstream{at("notes.txt")} << std::string(4096, 'x');
  EXPECT_EQ(said("notes.txt/locks.db"),
            "FOLDER/notes.txt is not a folder, so there is no SQLite file FOLDER/notes.txt/locks.db; correct the path");
  EXPECT_EQ(said("notes.txt"), "FOLDER/notes.txt is not an SQLite database, or it is encrypted; name another file");
  EXPECT_EQ(said(""), "FOLDER is a folder, not an SQLite file; name a file in it, as in sqlite:FOLDER/locks.db");
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  EXPECT_EQ(said("pipe"), "FOLDER/pipe is not a regular file; name an SQLite file");
}

TEST_F(connect_messages_of_sqlite, on_what_may_not_be_used) {
  constexpr const char* nothing_beside_it =
      "this process (uid UID) may not write to the folder FOLDER, where SQLite must create FOLDER/locks.db and its "
      "journal; give it the permission w on the folder";
  constexpr unsigned everything = 0755;
  permit("", 0555);
  EXPECT_EQ(said_to_nobody("locks.db"), nothing_beside_it) << "a new file";
  permit("", everything);
  ASSERT_EQ(said("locks.db"), "nothing");
  const auto said_with = [&](unsigned file, unsigned folder) {
    permit("locks.db", file);
    permit("", folder);
    auto out = said_to_nobody("locks.db");
    permit("", everything);
    return out;
  };
  EXPECT_EQ(said_with(0, everything),
            "this process (uid UID) may not read the SQLite file FOLDER/locks.db; give it the permissions r and w on "
            "the file");
  EXPECT_EQ(said_with(0444, everything),
            "the SQLite file FOLDER/locks.db is read-only for this process (uid UID); give it the permission w on the "
            "file");
  EXPECT_EQ(said_with(0666, 0555), nothing_beside_it);
  EXPECT_EQ(said_with(0666, 0),
            "this process (uid UID) may not enter the folder FOLDER of the SQLite file FOLDER/locks.db; give it the "
            "permissions r, w and x on the folder");
}

TEST_F(connect_messages_of_sqlite, on_a_file_that_was_not_migrated) {
  const auto e = error_of(
      [&] { return client::connect("sqlite:" + at("new.db").string(), {.observer = silent()}).try_acquire("job"); });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(replaced(e->what(), at("").string(), "FOLDER"),
            "preparing a statement failed on SQLite (FOLDER/new.db): no such table: main.rowlock_migration; run "
            "client::migrate(), or the files in schema/sqlite by hand");
}

}  // namespace
}  // namespace rowlock::test
