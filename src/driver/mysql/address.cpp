#include "driver/mysql/address.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "driver/failure_meaning.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::driver {

namespace {

constexpr std::string_view form = "; write mysql://user:password@host:port/database?option=value";

[[noreturn]] void refuse(const std::string& sentence) { throw error{errc::invalid_url, sentence}; }

std::string decoded(std::string_view text, std::string_view what) {
  auto out = base::percent_decoded(text);
  if (!out || !base::is_plain_text(*out))
    refuse("the " + std::string{what} + " of this URL must be UTF-8 without NUL, with %XX for : / ? # @ & = and %");
  return *out;
}

/// The text before `mark`, and the text after it; if there is no mark, all of the text is before it.
struct halves {
  std::string_view left;
  std::optional<std::string_view> right;
};
halves cut(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {.left = text, .right = {}};
  return {.left = text.substr(0, at), .right = text.substr(at + mark.size())};
}

void read_port(std::string_view text, mysql_address& to) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), to.port);
  if (failure != std::errc{} || end != text.data() + text.size() || to.port == 0)
    refuse("the port of this URL is not a number from 1 to 65535; in a password, write / as %2F and : as %3A");
}

void read_host(std::string_view text, mysql_address& to) {
  const bool has_brackets = text.starts_with('[');
  const auto parts = has_brackets ? cut(text.substr(1), "]") : cut(text, ":");
  if (has_brackets && !parts.right) refuse("the host of this URL has a [ without a ]" + std::string{form});
  if (!parts.left.empty()) to.host = decoded(parts.left, "host");
  auto rest = parts.right.value_or("");
  if (has_brackets && !rest.empty()) {
    if (rest.front() != ':') refuse("only a port may follow the host in brackets" + std::string{form});
    rest.remove_prefix(1);
  }
  if (!rest.empty()) read_port(rest, to);
  if (to.host.find(',') != std::string::npos)
    refuse("this URL has several hosts, and a mysql: URL has one; name the primary, or a proxy that finds it");
}

void read_user(std::string_view text, mysql_address& to) {
  const auto parts = cut(text, ":");
  to.user = decoded(parts.left, "user");
  to.password = decoded(parts.right.value_or(""), "password");
}

encryption read_mode(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
  constexpr std::string_view modes[] = {"DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"};
  const auto* const found = std::find(std::begin(modes), std::end(modes), text);
  if (found == std::end(modes))
    refuse("the option ssl-mode must be DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY");
  return static_cast<encryption>(found - std::begin(modes));
}

struct text_option {
  std::string_view name;
  std::string mysql_address::*value;
};
constexpr text_option text_options[] = {{"ssl-ca", &mysql_address::ca},
                                        {"ssl-capath", &mysql_address::ca_folder},
                                        {"ssl-cert", &mysql_address::certificate},
                                        {"ssl-key", &mysql_address::key},
                                        {"ssl-cipher", &mysql_address::ciphers},
                                        {"socket", &mysql_address::socket}};

[[noreturn]] void refuse_option(std::string_view name, bool says_name) {
  std::vector<std::string_view> known{"ssl-mode"};
  for (const auto& each : text_options) known.push_back(each.name);
  std::string sentence = says_name ? "a mysql: URL has no option " + base::quoted(base::printable(name))
                                   : "an option of this URL is unknown, or the '?' is part of the password and must be "
                                     "written %3F";
  sentence.append("; the options are ssl-mode, ssl-ca, ssl-capath, ssl-cert, ssl-key, ssl-cipher and socket");
  if (says_name) sentence.append(base::did_you_mean(name, known));
  refuse(sentence);
}

void read_option(std::string_view name, std::string value, bool says_names, mysql_address& to) {
  if (name == "ssl-mode") {
    to.tls = read_mode(std::move(value));
    return;
  }
  const auto* const known = std::find_if(std::begin(text_options), std::end(text_options),
                                         [&](const text_option& o) { return o.name == name; });
  if (known == std::end(text_options)) refuse_option(name, says_names);
  to.*known->value = std::move(value);
}

void read_options(std::string_view text, mysql_address& to) {
  // Otherwise the '?' may be in the password.
  const bool says_names = text.find('@') == std::string_view::npos;
  std::set<std::string, std::less<>> seen;
  for (std::optional<std::string_view> rest{text}; rest && !rest->empty();) {
    const auto one = cut(*rest, "&");
    rest = one.right;
    const auto parts = cut(one.left, "=");
    const auto name = decoded(parts.left, "options");
    if (!parts.right) refuse("an option of this URL has no value" + std::string{form});
    if (!seen.insert(name).second)
      refuse((says_names ? "the option " + base::quoted(base::printable(name)) + " is" : "an option is") +
             " given twice in this URL; leave one out");
    read_option(name, decoded(*parts.right, "options"), says_names, to);
  }
  const bool verifies = to.tls >= encryption::verify_ca;
  if (verifies && to.ca.empty() && to.ca_folder.empty())
    refuse("ssl-mode VERIFY_CA and VERIFY_IDENTITY need a certificate authority to trust; add ssl-ca or ssl-capath");
  if (to.tls <= encryption::preferred && (!to.ca.empty() || !to.ca_folder.empty() || !to.certificate.empty()))
    refuse("this URL has certificates, but its ssl-mode does not require encryption; set ssl-mode=VERIFY_IDENTITY");
}

}  // namespace

std::string mysql_address::server_name(std::string_view kind) const {
  return driver::server_name(kind, socket.empty() ? host + ":" + std::to_string(port) : socket, database);
}

std::string mysql_address::place() const { return "`" + sheets::replaced(database, "`", "``") + "`"; }

mysql_address read_mysql_url(const core::url& url) {
  if (!url.body.starts_with("//"))
    refuse("a " + std::string{url.scheme} + ": URL must have // after its scheme" + std::string{form});
  mysql_address out;
  const auto parts = cut(url.body.substr(2), "/");
  if (!parts.right || parts.right->empty()) refuse("this URL has no database" + std::string{form});
  // The last @, because a password may contain one that is not encoded.
  const auto at = parts.left.rfind('@');
  if (at != std::string_view::npos) read_user(parts.left.substr(0, at), out);
  read_host(at == std::string_view::npos ? parts.left : parts.left.substr(at + 1), out);
  out.database = decoded(*parts.right, "database");
  read_options(url.options, out);
  return out;
}

}  // namespace rowlock::inline v1::driver
