#include "server/server_test.hpp"

#include <optional>
#include <utility>

namespace rowlock::test {

client server_test::connect(const client_options& options) { return connect_and_migrate(db().url(), options); }

client server_test::connect_to(const std::string& url, client_options options) {
  return connect_patiently(url, std::move(options));
}

client server_test::connect_within_limits(const std::string& url, const client_options& options) {
  std::optional<client> out;
  std::optional<error> why;
  const auto connects = [&] {
    why = error_of([&] { return out.emplace(connect_to(url, options)), true; });
    return !why || !why->is_retryable();
  };
  static_cast<void>(eventually(connects));
  if (why) throw error{*why};
  return std::move(*out);
}

bool server_test::is_vacant(std::string_view name) {
  const auto row = db().row(name);
  return !row || !row->owner;
}

bool server_test::is_held_by(std::string_view name, const held_lock& held) {
  const auto row = db().row(name);
  return row && row->owner && row->version == held.token().value() && *row->expires_at > db().now();
}

bool server_test::is_waited_for(std::string_view name, int times) {
  return eventually([&] { return db().tickets(name) == times; });
}

void server_test::let_pass(std::chrono::microseconds time) {
  const auto since = db().now();
  EXPECT_TRUE(eventually([&] { return db().now() >= since + time.count(); }));
}

bool server_test::is_renewed(std::string_view name) {
  auto last = expiry(name);
  for (int i = 0; i < 2; ++i) {
    if (!eventually([&] { return expiry(name) > last; })) return false;
    last = expiry(name);
  }
  return true;
}

void proxy_test::on_request(tcp_proxy::bytes_test request, tcp_proxy::action what) {
  proxy_.on_request(std::move(request), what, [&](std::string_view answer) { return db().is_complete(answer); });
}

client proxy_test::connect_through_proxy(client_options options) {
  connect().close();
  options.application = application;
  options.call_timeout = short_call;
  return connect_to(db().url_through(proxy_.port()), std::move(options));
}

}  // namespace rowlock::test
