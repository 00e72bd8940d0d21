#include <unistd.h>

#include <stdexcept>

#include "mysql/mariadb_with_tls.hpp"
#include "mysql/speaking.hpp"
#include "server/greeting_server.hpp"
#include "server/server_test.hpp"
#include "support/mysql_database.hpp"
#include "testkit/child_process.hpp"

// How a session is encrypted, by each ssl-mode, where the server offers TLS, where it does not, and where TLS fails.
namespace rowlock::test {
namespace {

class encryption : public server_test {
 protected:
  explicit encryption(std::unique_ptr<server_database> place) : server_test{std::move(place)} {}

  /// Whether a client with these options of the URL finds this out about its connection. It may warn of something.
  testing::AssertionResult finds(std::string_view text, const std::string& options) {
    const auto found = connect_to(db().url() + options, {.observer = warnings_.observer()}).diagnose().at(0).sentence;
    const bool is_found = found.find(text) != std::string::npos;
    return (is_found ? testing::AssertionSuccess() : testing::AssertionFailure()) << options << ": " << found;
  }
  std::optional<error> refusal_of(const std::string& options) {
    return error_of([&] { connect_to(db().url() + options).close(); });
  }
  bool warned(std::string_view text) const { return warnings_.warned(text); }

 private:
  recorder warnings_{};
};

// --- a server with TLS -----------------------------------------------------------------------------------------------

class on_a_server_with_tls : protected with_private_server, public encryption {
 protected:
  explicit on_a_server_with_tls(std::vector<std::string> options = {})
      : with_private_server{std::make_unique<mariadb_with_tls>(std::move(options))}, encryption{server->open()} {}

  const mariadb_with_tls& tls() const { return static_cast<const mariadb_with_tls&>(*server); }
};

TEST_F(on_a_server_with_tls, a_session_is_encrypted_unless_the_url_says_otherwise) {
  for (const auto* options : {"", "?ssl-mode=PREFERRED", "?ssl-mode=REQUIRED"})
    EXPECT_TRUE(finds(", encrypted by TLS 1.3 (TLS_", options));
  for (const auto* options : {"?ssl-mode=DISABLED", "?ssl-mode=DISABLED&ssl-cipher=AES128-SHA"})
    EXPECT_TRUE(finds(", not encrypted;", options));
  EXPECT_FALSE(warned("encrypted"));
}

TEST_F(on_a_server_with_tls, verification_refuses_a_certificate_of_another_authority) {
  for (const std::string mode : {"REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"}) {
    const auto e = refusal_of("?ssl-mode=" + mode + "&ssl-ca=" + tls().stranger());
    ASSERT_TRUE(is_error(e, errc::connection_failed, {.says = {"certificate"}})) << mode;
  }
}

TEST_F(on_a_server_with_tls, a_wrong_password_is_sent_once) {
  const auto refused = [&] {
    return db().number(
        "SELECT variable_value FROM information_schema.global_status WHERE "
        "variable_name = 'Access_denied_errors'");
  };
  const auto before = refused();
  const auto url = "mysql://" + db().address().user + ":wrong@127.0.0.1:" + std::to_string(db().port()) + "/" +
                   db().address().database;
  const auto e = error_of([&] { connect_to(url).close(); });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->native_code(), 1045) << e->what();
  EXPECT_EQ(refused() - before, 1);
}

/// In a forked child.
class forked_beside_tls : public on_a_server_with_tls {
 protected:
  static std::optional<int> exit_status_of(const std::function<bool()>& fine_in_child) {
    const auto pid = ::fork();
    if (pid == 0) {
      ::alarm(120);
      ::_exit(!error_of([&] { return fine_in_child() ? 0 : throw std::logic_error{"not fine"}; }) ? 0 : 1);
    }
    return wait_for(pid);
  }
};

TEST_F(forked_beside_tls, a_child_connects_without_tls_and_says_why) {
  const auto parents = connect_to(db().url());
  EXPECT_EQ(exit_status_of([&] { return finds(", not encrypted;", "") && warned("this process was forked"); }), 0);
  EXPECT_TRUE(finds(", encrypted by TLS", "")) << "the parent goes on as before";
}

TEST_F(forked_beside_tls, nothing_is_inherited_from_connections_that_were_closed) {
  connect_to(db().url()).close();
  EXPECT_EQ(exit_status_of([&] { return finds(", encrypted by TLS", "") && !warned("forked"); }), 0);
}

// --- a server whose TLS fails ----------------------------------------------------------------------------------------

class on_a_server_whose_tls_fails : public on_a_server_with_tls {
 protected:
  // No cipher is known to both.
  static constexpr const char* cipher = "&ssl-cipher=AES128-SHA256";
  on_a_server_whose_tls_fails() : on_a_server_with_tls{{"--tls-version=TLSv1.2", "--ssl-cipher=AES256-SHA256"}} {}
};

TEST_F(on_a_server_whose_tls_fails, only_a_session_that_may_be_plain_is_plain_and_warns) {
  EXPECT_TRUE(finds(", not encrypted;", "?ssl-mode=PREFERRED" + std::string{cipher}));
  EXPECT_TRUE(warned("not encrypted, because TLS failed: "));
  EXPECT_TRUE(warned("ssl-mode=DISABLED"));
  for (const auto& mode :
       {"REQUIRED"s, "VERIFY_CA&ssl-ca=" + tls().authority(), "VERIFY_IDENTITY&ssl-ca=" + tls().authority()}) {
    const auto e = refusal_of("?ssl-mode=" + mode + cipher);
    ASSERT_TRUE(is_error(e, errc::connection_failed)) << mode;
    EXPECT_EQ(e->native_code(), 2026) << e->what();
  }
}

// --- servers that say what a test wants ------------------------------------------------------------------------------

std::optional<error> failure_at(const greeting_server& server, const std::string& options, client_options with = {}) {
  with.observer = silent();
  return error_of([&] {
    client::connect("mysql://app:secret@127.0.0.1:" + std::to_string(server.port()) + "/shop" + options, with).close();
  });
}

TEST(encryption_that_hangs, ends_with_the_limit_of_the_call) {
  for (const auto* options : {"", "?ssl-mode=REQUIRED"}) {
    const greeting_server silent_about_tls{[](const greeting_server::line& with) {
      with.say(greeting("10.11.6-MariaDB", offers::tls));
      while (!with.hear().empty()) {
      }
    }};
    const auto began = std::chrono::steady_clock::now();
    const auto e = failure_at(silent_about_tls, options, {.call_timeout = 1s});
    EXPECT_LT(std::chrono::steady_clock::now() - began, soon);
    ASSERT_TRUE(is_error(e, errc::connection_failed));
  }
}

TEST(what_a_server_says_before_tls_begins, is_understood) {
  for (const auto* options : {"", "?ssl-mode=REQUIRED", "?ssl-mode=DISABLED"}) {
    const greeting_server full{
        [](const greeting_server::line& with) { with.say(refusal(1040, "Too many connections")); }};
    const auto e = failure_at(full, options);
    ASSERT_TRUE(e.has_value());
    EXPECT_EQ(e->native_code(), 1040) << e->what();
    EXPECT_TRUE(mentions(e, "failed: Too many connections; raise max_connections")) << e->what();
    EXPECT_TRUE(e->is_retryable());
  }
}

}  // namespace
}  // namespace rowlock::test
