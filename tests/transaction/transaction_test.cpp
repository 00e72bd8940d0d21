#include "transaction/transaction_test.hpp"

#include <algorithm>
#include <iterator>

#include "support/tier.hpp"
#include "support/where.hpp"

namespace rowlock::test {

namespace {

// SQLite lets one write at a time: who cannot, should say so soon.
constexpr auto short_call = 400ms;

std::vector<place> places_of(const database_kind& kind) {
  if (kind.name == "postgresql")
    return {{.database = kind, .isolation = "read committed"},
            {.database = kind, .isolation = "repeatable read", .keeps_snapshot = true},
            {.database = kind, .isolation = "serializable", .keeps_snapshot = true, .is_like_another = true}};
  if (kind.name == "mysql")
    return {{.database = kind, .isolation = "repeatable read", .keeps_snapshot = true},
            {.database = kind, .isolation = "read uncommitted", .is_like_another = true},
            {.database = kind, .isolation = "read committed"},
            {.database = kind, .isolation = "serializable", .locks_reads = true}};
  return {{.database = kind, .isolation = "deferred", .keeps_snapshot = true},
          {.database = kind, .isolation = "immediate", .locks_reads = true, .locks_file = true}};
}

}  // namespace

std::string place::name() const {
  auto out = std::string{database.name} + "_" + std::string{isolation};
  std::replace(out.begin(), out.end(), ' ', '_');
  return out;
}

std::ostream& operator<<(std::ostream& out, const place& p) { return out << p.name(); }

std::vector<place> each_place() {
  std::vector<place> out;
  for (const auto& kind : databases()) std::ranges::move(places_of(kind), std::back_inserter(out));
  return is_full_tier() ? out : where(std::move(out), std::not_fn(&place::is_like_another));
}

std::vector<place> usual_places() {
  std::vector<place> out;
  for (const auto& kind : databases()) out.push_back(places_of(kind).front());
  return out;
}

std::vector<place> beside_others(std::vector<place> of) {
  return where(std::move(of), std::not_fn(&place::locks_file));
}

std::vector<place> beside_writers(std::vector<place> of) {
  return where(std::move(of), std::not_fn(&place::locks_reads));
}

std::vector<place> on(std::string_view database, std::vector<place> of) {
  return where(std::move(of), [&](const place& p) { return p.database.name == database; });
}

std::vector<place> not_on(std::string_view database, std::vector<place> of) {
  return where(std::move(of), [&](const place& p) { return p.database.name != database; });
}

std::vector<place> on_servers(std::vector<place> of) { return not_on("sqlite", std::move(of)); }

std::vector<place> in_files(std::vector<place> of) { return on("sqlite", std::move(of)); }

std::string place_name(const testing::TestParamInfo<place>& info) { return info.param.name(); }

transaction_test::transaction_test()
    : locks_{connect()}, others_{is_on("sqlite") ? connect({.call_timeout = short_call}) : connect()} {
  locks_.migrate();
  tx_ = open();
  tx_->statement("CREATE TABLE own (id INTEGER PRIMARY KEY, n BIGINT NOT NULL)");
  tx_->statement("INSERT INTO own (id, n) VALUES (1, 0), (2, 0), (3, 0)");
}

client transaction_test::connect(client_options options) const {
  return connect_patiently(db().url(), std::move(options));
}

bool transaction_test::can_have(const lock_name& name, strategy by) try {
  return others_.try_acquire(name, {.strategy = by}).has_value();
} catch (const error& e) {
  if (!is_on("sqlite") || !e.is_retryable()) throw;
  return false;  // somebody else is writing
}

bool transaction_test::can_have_soon(const lock_name& name) {
  return eventually([&] { return can_have(name); });
}

bool transaction_test::can_lock_in(const lock_name& name) {
  tx_->begin();
  const bool out = tx_->try_lock_in(locks_, name).has_value();
  tx_->commit();
  return out;
}

transaction_lock transaction_test::begin_and_lock_in(const lock_name& name) {
  tx_->begin();
  return tx_->lock_in(locks_, name);
}

std::unique_ptr<caller> transaction_test::locked_elsewhere(const lock_name& name) {
  auto out = open();
  out->begin();
  out->lock_in(others_, name);
  return out;
}

void transaction_test::write_and_confirm(const held_lock& held) {
  tx_->begin();
  tx_->statement(write_own);
  tx_->confirm(held);
}

void transaction_test::expect_of_use() {
  tx_->statement(write_own);
  tx_->commit();
  EXPECT_EQ(value(), 1) << "the transaction is of use";
}

void transaction_test::make_rows(std::initializer_list<const char*> names) {
  for (const auto* name : names) others_.acquire(name).release();
}

std::int64_t transaction_test::value(int id) const {
  return open_witness()->number("SELECT n FROM own WHERE id = " + std::to_string(id));
}

bool transaction_test::is_renewed(std::string_view name) const {
  for (int i = 0; i < 2; ++i)
    if (!eventually([&, before = expiry(name)] { return expiry(name) > before; })) return false;
  return true;
}

bool transaction_test::has_expired(std::string_view name) const {
  return eventually([&] { return expiry(name) <= db().now(); });
}

}  // namespace rowlock::test
