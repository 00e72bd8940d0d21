// URLs of each database.

#include "core/url.hpp"
#include "driver/mysql/address.hpp"
#include "driver/postgresql/address.hpp"
#include "driver/sqlite/files.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/utf8.hpp"

namespace rowlock::fuzz {

namespace {

using driver::mysql_address;

std::string url_of(const mysql_address& a) {
  constexpr const char* modes[] = {"DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"};
  std::string out = "mysql://" + percent_encoded(a.user) + ":" + percent_encoded(a.password) + "@" +
                    percent_encoded(a.host) + ":" + std::to_string(a.port) + "/" + percent_encoded(a.database) +
                    "?ssl-mode=" + modes[static_cast<std::size_t>(a.tls)];
  const std::pair<const char*, const std::string&> options[] = {
      {"ssl-ca", a.ca},   {"ssl-capath", a.ca_folder}, {"ssl-cert", a.certificate},
      {"ssl-key", a.key}, {"ssl-cipher", a.ciphers},   {"socket", a.socket}};
  for (const auto& [name, value] : options) out.append("&").append(name).append("=").append(percent_encoded(value));
  return out;
}

void check_mysql(const core::url& url, bool has_secret) {
  const auto a = driver::read_mysql_url(url);
  const auto written = url_of(a);
  const auto b = driver::read_mysql_url(core::cut_url(written));
  expect(url_of(b) == written, "an address that was written as a URL is read as the same", written);
  expect(!a.database.empty() && !a.host.empty() && a.port != 0, "an address is complete");
  // Between a : and an @ it may be a password; after that it may be the name of the database as well.
  const auto at = url.body.rfind(secret);
  if (has_secret && a.socket.empty() && at != std::string::npos && url.body.find(':') < at &&
      url.body.find('@', at) != std::string::npos)
    expect(a.server_name("MySQL").find(secret) == std::string::npos, "messages name the server without the password");
}

void check_postgresql(const core::url& url) {
  const driver::postgresql_address a{url, "rowlock"};
  const auto hosts = a.hosts();
  expect(!hosts.empty(), "there is a host to connect to");
  for (const auto& each : hosts) {
    expect(each.at("client_encoding") == "UTF8", "names are UTF-8");
    if (hosts.size() == 1) continue;
    const auto host = each.find("host");
    expect(host == each.end() || host->second.find(',') == std::string::npos, "of several hosts each is one");
  }
}

void check_sqlite(const core::url& url) {
  const auto path = driver::read_sqlite_url(url);
  expect(!path.empty() && is_plain(path), "a path can be opened");
  expect(driver::read_sqlite_url(core::cut_url("sqlite:" + percent_encoded(path))) == path,
         "a path that was written as a URL is read as the same", path);
}

void read(const std::string& text, bool has_secret) {
  const auto url = core::cut_url(text);
  if (url.scheme == "postgresql") check_postgresql(url);
  if (url.scheme == "mysql") check_mysql(url, has_secret);
  if (url.scheme == "sqlite") check_sqlite(url);
}

// `has_secret`: one was put there. The fuzzer knows it, and writes it elsewhere as well.
void check(const std::string& text, bool has_secret) {
  const auto refusal = error_of([&] { read(text, has_secret); });
  if (!refusal) return;
  expect(refusal->code() == errc::invalid_url, "the code of a refused URL", refusal->what());
  expect(is_tame(refusal->what()), "a refusal can be shown", refusal->what());
  // A password before an @ may have any character, and anything may come before and after it.
  if (const auto at = text.rfind(secret);
      has_secret && at != std::string::npos && text.find('@', at) != std::string::npos)
    expect(std::string_view{refusal->what()}.find(secret) == std::string_view::npos, "a refusal shows no password",
           refusal->what());
}

}  // namespace

void feed(input& from) {
  const bool wants_secret = from.ConsumeBool();
  const std::string scheme = from.PickValueInArray({"mysql://", "postgresql://", "sqlite:", ""});
  const auto before = text(from);
  const auto after = text(from);
  // The path of an SQLite file is no secret, and what is wrong with it is said.
  const bool has_secret = wants_secret && scheme != "sqlite:" && !scheme.empty();
  check(has_secret ? scheme + before + ":" + secret + after : scheme + before + after, has_secret);
}

}  // namespace rowlock::fuzz
