#include <fstream>

#include "postgresql/postgresql_server.hpp"
#include "server/server_test.hpp"
#include "support/postgresql_database.hpp"

namespace rowlock::test {
namespace {

/// PostgreSQL that offers TLS, on a loopback port.
class postgresql_with_tls : public postgresql_server {
 public:
  postgresql_with_tls() {
    stop();
    make_certificate();
    std::ofstream{folder() / "data" / "pg_hba.conf", std::ios::app} << "host all all 127.0.0.1/32 trust\n";
    std::ofstream{folder() / "data" / "postgresql.conf", std::ios::app}
        << "listen_addresses = '127.0.0.1'\nport = " << port_ << "\nssl = on\nssl_cert_file = '"
        << (folder() / "certificate.pem").string() << "'\nssl_key_file = '" << (folder() / "key.pem").string() << "'\n";
    start();
  }

  server_address address() const override {
    auto out = postgresql_server::address();
    if (!std::filesystem::exists(folder() / "key.pem")) return out;
    out.host = "127.0.0.1";
    out.port = port_;
    return out;
  }

 private:
  std::uint16_t port_ = free_port();
};

class postgresql_encryption : protected with_private_server, public server_test {
 protected:
  postgresql_encryption() : with_private_server{std::make_unique<postgresql_with_tls>()}, server_test{server->open()} {}

  std::string found_with(const std::string& options) {
    return connect_to(db().url() + options).diagnose().at(0).sentence;
  }
};

TEST_F(postgresql_encryption, is_used_unless_the_url_says_otherwise) {
  for (const auto* options : {"", "?sslmode=prefer", "?sslmode=require"})
    EXPECT_TRUE(found_with(options).find(", encrypted by TLS 1.3 (TLS_") != std::string::npos) << found_with(options);
  EXPECT_TRUE(found_with("?sslmode=disable").find(", not encrypted;") != std::string::npos);
}

}  // namespace
}  // namespace rowlock::test
