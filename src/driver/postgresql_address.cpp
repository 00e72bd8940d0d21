#include "driver/postgresql_address.hpp"

#include <rowlock/error.hpp>

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <new>
#include <optional>
#include <vector>

#include "driver/aside.hpp"
#include "driver/boot_clock.hpp"
#include "driver/failure_meaning.hpp"
#include "driver/postgresql_errors.hpp"

namespace rowlock::inline v1::driver {

namespace {

using namespace std::chrono_literals;

using settings = std::map<std::string, std::string>;

constexpr const char* doing = "connecting";

struct free_options {
  void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};

[[noreturn]] void refuse(const std::string& sentence) { throw error{errc::invalid_url, sentence}; }

// What libpq says of a URL that it cannot read may repeat all of it.
settings read_url(const std::string& url) {
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, free_options> options{PQconninfoParse(url.c_str(), &message)};
  PQfreemem(message);
  if (!options)
    refuse(
        "libpq cannot read this URL; it is postgresql://user:password@host:port/database?option=value, with %XX for "
        "characters that mean something in a URL");
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

// Where a password has characters that mean something in a URL, libpq takes a part of it for host or port, and would
// say so when it connects. So may nobody else.
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
        "the host of this URL holds an @, or its port is no number from 1 to 65535; in a password @ is written %40, / "
        "%2F and : %3A");
}

bool readable_or_writable(int descriptor, bool writing, duration longest) {
  pollfd one{.fd = descriptor, .events = static_cast<short>(writing ? POLLOUT : POLLIN), .revents = 0};
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
  return ::poll(&one, 1, static_cast<int>(milliseconds)) > 0;
}

[[noreturn]] void give_up(const limits& until) {
  if (until.stop.stop_requested()) throw not_connected(errc::cancelled, "stopped while connecting to PostgreSQL");
  throw not_connected(errc::connection_failed, "PostgreSQL, while connecting: no answer within the time limit");
}

// In short waits: the time line of deadlines goes on while the machine is suspended, poll(2)'s does not, and it does
// not hear of a stop.
void wait_for(int descriptor, bool writing, const limits& until) {
  const duration longest = until.stop.stop_possible() ? duration{20ms} : duration{1s};
  for (;;) {
    const auto at = now();
    if (until.stop.stop_requested() || at >= until.deadline) give_up(until);
    if (readable_or_writable(descriptor, writing, std::min<duration>(longest, until.deadline - at))) return;
  }
}

[[noreturn]] void raise(PGconn* connection) {
  throw postgresql_error({.message = PQerrorMessage(connection), .sqlstate = {}, .connection_lost = true}, doing);
}

postgresql_handle start(const settings& with) {
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : with) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  postgresql_handle out{PQconnectStartParams(keywords.data(), values.data(), 0)};
  if (!out) throw std::bad_alloc{};
  return out;
}

// A thread's of its own: libpq looks up names of hosts, and asks for Kerberos tickets, for as long as that takes.
postgresql_handle dial(const settings& with, const limits& until) {
  auto out = start(with);
  PQsetErrorVerbosity(out.get(), PQERRORS_VERBOSE);
  PQsetNoticeProcessor(
      out.get(), [](void*, const char*) {}, nullptr);  // libpq's own writes to stderr
  if (PQstatus(out.get()) == CONNECTION_BAD) raise(out.get());
  for (auto next = PGRES_POLLING_WRITING; next != PGRES_POLLING_OK; next = PQconnectPoll(out.get())) {
    if (next == PGRES_POLLING_FAILED) raise(out.get());
    wait_for(PQsocket(out.get()), next == PGRES_POLLING_WRITING, until);
  }
  return out;
}

postgresql_handle dial_within(const settings& with, const limits& until) {
  [[maybe_unused]] static const int registered = std::atexit(wait_for_those_left_behind);
  auto made = make_aside(until, [with, deadline = until.deadline](const std::stop_token& given_up) {
    return dial(with, {.deadline = deadline, .stop = given_up});
  });
  if (made) return std::move(*made);
  give_up(until);
}

}  // namespace

postgresql_address::postgresql_address(const core::url& url, const std::string& application_name) {
  if (!url.body.starts_with("//"))
    refuse("a " + std::string{url.scheme} + ": URL goes on with //, as in " + std::string{url.scheme} +
           "://user@host/database");
  settings_ = read_url(whole(url));
  check_host_and_port(settings_);
  settings_.emplace("application_name", application_name);
  settings_["client_encoding"] = "UTF8";  // names are UTF-8
  // A peer that is gone is noticed by idle connections too.
  settings_.emplace("keepalives_idle", "30");
  settings_.emplace("keepalives_interval", "10");
  settings_.emplace("keepalives_count", "3");
  // Of several hosts the one that can grant locks. (Before version 14 libpq does not know the word.)
  if (has_several_hosts() && PQlibVersion() >= 140000) settings_.emplace("target_session_attrs", "primary");
}

bool postgresql_address::has_several_hosts() const {
  const auto lists_several = [&](const char* keyword) {
    const auto found = settings_.find(keyword);
    return found != settings_.end() && found->second.find(',') != std::string::npos;
  };
  return lists_several("host") || lists_several("hostaddr");
}

// One by one, since PQconnectPoll leaves the time for each host to us.
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
  // libpq says what is wrong with lists of different lengths.
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

postgresql_handle postgresql_address::connect(const limits& until) const {
  const auto all = hosts();
  for (std::size_t i = 0;; ++i) {
    const auto left = static_cast<duration::rep>(all.size() - i);
    const auto at = now();
    const bool is_last = left == 1 || until.deadline == core::instant::max();
    const auto deadline = is_last ? until.deadline : at + (until.deadline - at) / left;
    try {
      return dial_within(all[i], {.deadline = deadline, .stop = until.stop});
    } catch (const error& e) {
      if (left == 1 || e.code() != errc::connection_failed) throw;
    }
  }
}

}  // namespace rowlock::inline v1::driver
