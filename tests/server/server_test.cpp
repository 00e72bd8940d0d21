#include "server/server_test.hpp"

namespace rowlock::test {

client server_test::connect(const client_options& options) { return connect_and_migrate(db().url(), options); }

client server_test::connect_to(const std::string& url, client_options options) {
  return connect_patiently(url, std::move(options));
}

client server_test::connect_within_limits(const std::string& url, const client_options& options) {
  std::optional<client> out;
  std::optional<error> why;
  const auto connects = [&] {
    why = error_of([&] { out.emplace(connect_to(url, options)); });
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

bool server_test::is_marked(std::string_view name) {
  return db().number("SELECT count(*) FROM rowlock_lock WHERE waiting AND name = " + db().quoted(name)) == 1;
}

void server_test::expect_whole_life(client& locks, client& others) {
  const lock_name name{"orders/42"};
  locks.check();
  auto held = locks.acquire(name, {.lease = 2s, .note = "a note"});
  EXPECT_FALSE(others.try_acquire(name).has_value());
  held.extend(1h);
  EXPECT_GT(held.expires_in().value(), 30min);
  EXPECT_EQ(locks.list("orders/").size(), 1U);
  EXPECT_EQ(locks.find(name).value().note, "a note");
  background waiter{waiting(others)};
  EXPECT_TRUE(eventually([&] { return locks.waiters(name).size() == 1; }));
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  held.release();
  waiter.get().release();
  locks.acquire(name, {.strategy = strategy::for_update}).release();
  locks.acquire_shared(name).release();
  EXPECT_FALSE(locks.find(name).has_value());
  EXPECT_TRUE(locks.list().empty());
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

client proxy_test::connect_by_proxy(client_options options) {
  connect().close();
  return connect_to(db().url_through(proxy_.port()), std::move(options));
}

client proxy_test::connect_through_proxy(client_options options) {
  options.application = application;
  options.call_timeout = short_call;
  return connect_by_proxy(std::move(options));
}

}  // namespace rowlock::test
