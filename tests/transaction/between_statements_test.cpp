#include <gtest/gtest.h>
#include <rowlock/interop/pqxx.hpp>
#include <rowlock/rowlock.hpp>

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/postgresql_database.hpp"
#include "support/recorder.hpp"
#include "testkit/eventually.hpp"

// What others do at a certain moment of a call in the caller's transaction: just before one of its statements, or just
// after it.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

/// A caller's transaction in which somebody gets in between: before or after the statement that has a word in it, once.
class watched_transaction : public detail::caller_transaction {
 public:
  using action = std::function<void()>;
  explicit watched_transaction(pqxx::dbtransaction& tx) : tx_{tx} {}

  void before(std::string word, action what) { before_ = {std::move(word), std::move(what)}; }
  void after(std::string word, action what) { after_ = {std::move(word), std::move(what)}; }

  detail::backend kind() const noexcept override { return tx_.kind(); }
  std::int64_t session() const override { return tx_.session(); }
  bool takes_several() const noexcept override { return tx_.takes_several(); }
  std::vector<row> execute(const std::string& sql, std::span<const detail::value_in> arguments) override {
    before_.happen_at(sql);
    auto out = tx_.execute(sql, arguments);
    after_.happen_at(sql);
    return out;
  }

 private:
  struct moment {
    std::string word{};
    action what{};
    void happen_at(const std::string& sql) {
      if (what && sql.find(word) != std::string::npos) std::exchange(what, nullptr)();
    }
  };

  detail::pqxx_transaction tx_;
  moment before_;
  moment after_;
};

class between_statements : public testing::Test {
 protected:
  between_statements() { locks_.migrate(); }

  client& locks() { return locks_; }
  client& others() { return others_; }
  watched_transaction& tx() { return tx_; }

 private:
  postgresql_database database_;
  client locks_ = client::connect(database_.url(), {.observer = silent()});
  client others_ = client::connect(database_.url(), {.observer = silent()});
  pqxx::connection connection_{database_.url()};
  pqxx::work work_{connection_};
  watched_transaction tx_{work_};
};

// The deadline is asked for once more when the row is pinned: the transaction must not rely on what was believed
// before.
TEST_F(between_statements, confirm_refuses_a_lease_whose_deadline_passes_meanwhile) {
  const auto held = locks().acquire("orders/42", {.lease = 500ms, .renew = false});
  tx().after("FOR KEY SHARE", [&] { EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); })); });
  EXPECT_TRUE(throws(errc::lock_lost, [&] { detail::confirm(tx(), held); }));
}

TEST_F(between_statements, lock_in_finds_a_lease_that_is_granted_meanwhile) {
  locks().acquire("orders/42").release();
  held_lock theirs;
  tx().before("FOR UPDATE", [&] { theirs = others().acquire("orders/42"); });
  EXPECT_FALSE(detail::lock_in(tx(), locks(), "orders/42", duration::zero(), {}, {}).has_value());
  ASSERT_TRUE(theirs);
  EXPECT_NO_THROW(theirs.extend(1min)) << "and leaves it alone";
  EXPECT_NO_THROW(theirs.release());
}

}  // namespace
}  // namespace rowlock::test
