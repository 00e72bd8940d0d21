#include "driver/postgresql/address.hpp"

#include <rowlock/error.hpp>

#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace rowlock::inline v1::driver {

namespace {

using settings = postgresql_address::settings;

struct free_options {
  void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};

[[noreturn]] void refuse(const std::string& sentence) { throw error{errc::invalid_url, sentence}; }

std::vector<std::string> keywords() {
  std::vector<std::string> out{"ssl"};  // ssl=true is sslmode=require
  const std::unique_ptr<PQconninfoOption, free_options> all{PQconndefaults()};
  for (const auto* o = all.get(); o != nullptr && o->keyword != nullptr; ++o) out.emplace_back(o->keyword);
  return out;
}

[[noreturn]] void refuse_option(std::string_view name, const std::vector<std::string>& all) {
  const std::vector<std::string_view> known{all.begin(), all.end()};
  refuse("a postgresql: URL has no option " + base::quoted(base::printable(name)) +
         "; the options are libpq's parameters, such as sslmode, sslrootcert, connect_timeout, application_name, "
         "options and target_session_attrs" +
         base::did_you_mean(name, known));
}

// Throws an error about the options, if this is possible without repeating a part of the password: with an '@' after
// it, the '?' may be in the password.
void check_options(std::string_view text) {
  if (text.find('@') != std::string_view::npos) return;
  const auto all = keywords();
  while (!text.empty()) {
    const auto one = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    const auto equals = one.find('=');
    if (equals == std::string_view::npos) refuse("an option of this URL has no value; write option=value");
    const auto name = base::percent_decoded(one.substr(0, equals));
    if (name && std::find(all.begin(), all.end(), *name) == all.end()) refuse_option(*name, all);
  }
}

// libpq's message about a URL that it cannot read may repeat the whole URL, so it is not passed on.
settings read_url(const std::string& url, std::string_view with_options) {
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, free_options> options{PQconninfoParse(url.c_str(), &message)};
  PQfreemem(message);
  if (!options) {
    check_options(with_options);
    refuse(
        "libpq cannot read this URL; write postgresql://user:password@host:port/database?option=value, with %XX for "
        ": / ? # @ & = and % in a part");
  }
  settings out;
  for (const auto* o = options.get(); o->keyword != nullptr; ++o)
    if (o->val != nullptr) out.emplace(o->keyword, o->val);
  return out;
}

std::string whole(const core::url& url) {
  std::string out{url.scheme};
  out.append(":").append(url.body);
  if (!url.options.empty()) out.append("?").append(url.options);
  return out;
}

std::vector<std::string> parts(const std::string& list) {
  std::vector<std::string> out(1);
  for (const char c : list) {
    if (c == ',') {
      out.emplace_back();
    } else {
      out.back().push_back(c);
    }
  }
  return out;
}

bool is_port(const std::string& text) {
  int number = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc{} && rest == end && number >= 1 && number <= 65535;
}

// If a password has characters with a meaning in a URL, libpq takes a part of it for the host or the port, and would
// repeat that part in its error when it connects.
void check_host_and_port(const settings& some) {
  const auto text_of = [&](const char* keyword) {
    const auto found = some.find(keyword);
    return found == some.end() ? std::string{} : found->second;
  };
  const auto ports = parts(text_of("port"));
  const auto names = parts(text_of("host"));  // "@name" is a socket
  const bool are_ports = std::all_of(ports.begin(), ports.end(), [](const auto& p) { return p.empty() || is_port(p); });
  const bool are_hosts =
      std::all_of(names.begin(), names.end(), [](const auto& n) { return n.find('@', 1) == std::string::npos; });
  if (!are_ports || !are_hosts)
    refuse(
        "the host of this URL has an @, or its port is not a number from 1 to 65535; in a password, write @ as %40, "
        "/ as %2F and : as %3A");
}

}  // namespace

postgresql_address::postgresql_address(const core::url& url, const std::string& application_name) {
  if (!url.body.starts_with("//"))
    refuse("a " + std::string{url.scheme} + ": URL must have // after its scheme; write " + std::string{url.scheme} +
           "://user:password@host:port/database?option=value");
  settings_ = read_url(whole(url), url.options);
  check_host_and_port(settings_);
  settings_.emplace("application_name", application_name);
  settings_["client_encoding"] = "UTF8";  // names are UTF-8
  // Idle connections, too, notice that the server has failed.
  settings_.emplace("keepalives_idle", "30");
  settings_.emplace("keepalives_interval", "10");
  settings_.emplace("keepalives_count", "3");
  // If there are several hosts, connect to the one that can grant locks. (Before version 14 libpq does not know the
  // value.)
  if (has_several_hosts() && PQlibVersion() >= 140000) settings_.emplace("target_session_attrs", "primary");
}

bool postgresql_address::has_several_hosts() const {
  const auto lists_several = [&](const char* keyword) {
    const auto found = settings_.find(keyword);
    return found != settings_.end() && found->second.find(',') != std::string::npos;
  };
  return lists_several("host") || lists_several("hostaddr");
}

std::vector<postgresql_address::settings> postgresql_address::hosts() const {
  if (!has_several_hosts()) return {settings_};
  const auto list = [&](const char* keyword) {
    const auto found = settings_.find(keyword);
    return found == settings_.end() ? std::vector<std::string>{} : parts(found->second);
  };
  const auto names = list("host");
  const auto addresses = list("hostaddr");
  const auto ports = list("port");
  const auto count = std::max(names.size(), addresses.size());
  // libpq reports lists of different lengths.
  if ((!names.empty() && names.size() != count) || (!addresses.empty() && addresses.size() != count) ||
      (ports.size() > 1 && ports.size() != count))
    return {settings_};
  std::vector<settings> out(count, settings_);
  for (std::size_t i = 0; i < count; ++i) {
    if (!names.empty()) out[i]["host"] = names[i];
    if (!addresses.empty()) out[i]["hostaddr"] = addresses[i];
    if (ports.size() > 1) out[i]["port"] = ports[i];
  }
  return out;
}

}  // namespace rowlock::inline v1::driver
