#include <barrier>
#include <cstdlib>
#include <exception>
#include <random>
#include <thread>

#include "support/seed.hpp"
#include "support/tier.hpp"
#include "transaction/transaction_test.hpp"

// A holder that confirms and commits, against another that takes its lock over at any moment.

namespace rowlock::test {
namespace {

/// ROWLOCK_TEST_RACES, or enough for the tier.
int races() {
  const char* const said = std::getenv("ROWLOCK_TEST_RACES");
  return said == nullptr ? many(500, 60) : std::stoi(said);
}

/// What became of one race.
struct outcome {
  bool is_confirmed = false;            ///< the holder has committed
  bool is_taken_over = false;           ///< the other was given the lock
  std::int64_t writes_at_takeover = 0;  ///< of the holder, as the other found them when it had the lock
};

class takeover_races : public transaction_test {
 protected:
  takeover_races() {
    tx().statement("CREATE TABLE fenced (id INTEGER PRIMARY KEY, token BIGINT NOT NULL, violations INTEGER NOT NULL)");
    tx().statement("INSERT INTO fenced (id, token, violations) VALUES (1, 0, 0)");
    tx().statement("CREATE TABLE written (token BIGINT PRIMARY KEY)");
    make_rows({"job"});
  }

  std::int64_t writes_of(fencing_token token) {
    return witness_->number("SELECT count(*) FROM written WHERE token = " + std::to_string(token.value()));
  }
  /// A write that anybody's may follow, in the order of the commits; it counts those that come too late.
  static void write(caller& by, fencing_token token) {
    const auto number = std::to_string(token.value());
    by.statement("INSERT INTO written (token) VALUES (" + number + ")");
    by.statement("UPDATE fenced SET violations = violations + CASE WHEN token >= " + number +
                 " THEN 1 ELSE 0 END, token = " + number + " WHERE id = 1");
  }

  /// Writes before confirm, after it, or some of both. Whether it has committed.
  bool hold(const held_lock& held, int turn) try {
    tx().begin();
    if (turn % 3 == 0) tx().statement(read_own);
    if (turn % 2 == 0) write(tx(), held.token());
    tx().confirm(held);
    if (turn % 2 != 0) write(tx(), held.token());
    tx().commit();
    return true;
  } catch (const std::exception& e) {
    if (const auto* const said = dynamic_cast<const error*>(&e); said != nullptr && said->code() != errc::lock_lost) {
      EXPECT_TRUE(said->is_retryable()) << said->what();
    }
    tx().rollback();
    return false;
  }

  /// As if the lease were over at this moment.
  outcome take_over(caller& by, fencing_token from, std::chrono::microseconds moment) {
    const stopwatch watch;
    while (watch.elapsed() < moment) std::this_thread::yield();
    db().expire("job");  // a pin keeps an operator waiting, too
    outcome out;
    const auto next = try_take();
    if (!next) return out;
    out.is_taken_over = true;
    out.writes_at_takeover = writes_of(from);
    write_as_holder(by, *next);
    return out;
  }

  /// Until it succeeds: it is the holder.
  static void write_as_holder(caller& by, const held_lock& held) {
    constexpr int attempts = 100;
    for (int i = 0; i < attempts; ++i) {
      by.begin();
      try {
        by.confirm(held);
        write(by, held.token());
        return by.commit();
      } catch (const error& e) {
        by.rollback();
        if (!e.is_retryable()) throw;
      } catch (const std::exception&) {
        by.rollback();  // the driver's word for a conflict
      }
    }
    ADD_FAILURE() << "the holder cannot write";
  }

  std::optional<held_lock> try_take() try { return others().try_acquire("job"); } catch (const error& e) {
    if (!e.is_retryable()) throw;
    return std::nullopt;  // somebody else is writing to the file
  }

 private:
  std::unique_ptr<caller> witness_ = open_witness();  // of whichever thread has the turn
};
ROWLOCK_SUITE_IN(takeover_races, each_place());

TEST_P(takeover_races, never_let_a_stale_write_be_committed) {
  const auto rival = open();
  std::mt19937 random{seed()};
  int latest_us = is_on_server() ? 5000 : 1500;
  const int rounds = races() / (is_on("mysql") ? 4 : is_on("postgresql") ? 3 : 2) + 1;
  int confirmed = 0;
  int taken_over = 0;
  int stale = 0;
  for (int turn = 0; turn < rounds || (confirmed == 0 && turn < rounds + 8); ++turn) {
    if (turn >= rounds) latest_us *= 2;  // on a busy machine a holder is slower than its rival came
    const std::chrono::microseconds at{std::uniform_int_distribution{0, latest_us}(random)};
    const auto held = locks().acquire("job");
    std::barrier start{2};
    background other{[&, moment = at](const std::stop_token& /*stop*/) {
      start.arrive_and_wait();
      return take_over(*rival, held.token(), moment);
    }};
    start.arrive_and_wait();
    const bool is_confirmed = hold(held, turn);
    const auto seen = other.get();
    confirmed += is_confirmed ? 1 : 0;
    taken_over += seen.is_taken_over ? 1 : 0;
    if (seen.is_taken_over && writes_of(held.token()) != seen.writes_at_takeover) ++stale;
    EXPECT_EQ(writes_of(held.token()), is_confirmed ? 1 : 0);
  }
  EXPECT_EQ(stale, 0) << "of " << rounds;
  EXPECT_EQ(tx().number("SELECT violations FROM fenced"), 0) << "tokens out of order";
  EXPECT_GT(confirmed, 0);
  EXPECT_GT(taken_over, 0);
  RecordProperty("races", rounds);
  RecordProperty("confirmed", confirmed);
  RecordProperty("taken_over", taken_over);
}

}  // namespace
}  // namespace rowlock::test
