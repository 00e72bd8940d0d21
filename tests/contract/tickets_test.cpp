#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "contract/queueing.hpp"

namespace rowlock::test {
namespace {

class tickets : public queueing {
 protected:
  static names names_of(const std::vector<waiter_info>& all) {
    names out;
    for (const auto& each : all) out.emplace_back(each.name.view());
    return out;
  }
};
ROWLOCK_CONTRACT_SUITE(tickets, usual_pairs());
class tickets_of_transactions : public tickets {};
ROWLOCK_CONTRACT_SUITE(tickets_of_transactions, transactions(usual_pairs()));

// --- who waits -------------------------------------------------------------------------------------------------------

TEST_P(tickets, nobody_waits_where_nobody_must) {
  EXPECT_TRUE(locks_.waiters(name).empty()) << "never heard of";
  const auto held = locks_.acquire(name, fair());
  EXPECT_TRUE(locks_.waiters(name).empty()) << "who has it does not wait";
  EXPECT_TRUE(locks_.list_waiters().empty());
  EXPECT_FALSE(locks_.try_acquire(name, fair()).has_value());
  EXPECT_TRUE(locks_.waiters(name).empty()) << "nor does who tried only once";
  EXPECT_EQ(db().tickets(), 0);
}

TEST_P(tickets, waiters_are_told_in_order_with_owner_thread_and_age) {
  auto locks = connect({.application = "shop"});
  auto other = connect({.application = "office"});
  auto held = locks.acquire(name, fair());
  auto elsewhere = locks.acquire("orders/43", fair());
  const auto one = wait_behind(locks, "one");
  const auto two = wait_behind(other, "two");
  const auto three = wait_behind(locks, "three");
  background four{[&](std::stop_token stop) { return locks.try_acquire_for("orders/43", patience, fair(), stop); }};
  ASSERT_TRUE(are_waiting(4));

  const auto seen = other.waiters(name);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(queue(other), (names{"one", "two", "three"}));
  EXPECT_EQ(queue(locks), queue(other));
  EXPECT_LT(seen[0].ticket, seen[1].ticket);
  EXPECT_LT(seen[1].ticket, seen[2].ticket);
  EXPECT_EQ(seen[0].owner.substr(0, 5), "shop:");
  EXPECT_EQ(seen[1].owner.substr(0, 7), "office:");
  EXPECT_EQ(seen[2].owner, seen[0].owner);
  EXPECT_NE(seen[0].owner.find(":" + std::to_string(::getpid()) + ":"), std::string::npos) << seen[0].owner;
  EXPECT_GE(seen[2].age, 0us);
  EXPECT_GE(seen[0].age, seen[1].age);
  EXPECT_LT(seen[0].age, patience);
  EXPECT_TRUE(eventually([&] { return other.waiters(name).at(0).age > seen[0].age; }));
  EXPECT_EQ(other.waiters("orders/43").size(), 1U);
  EXPECT_TRUE(other.waiters("orders").empty()) << "it is no prefix";
}

TEST_P(tickets, of_all_names_are_listed_by_name_and_ticket) {
  auto locks = connect({.application = "shop"});
  std::vector<std::int64_t> first_tickets;
  for (const auto* each : {"b", "B", "a", "\xc3\xa9", "b", "a "}) first_tickets.push_back(db().enqueue(each));
  const auto all = locks.list_waiters();
  EXPECT_EQ(names_of(all), (names{"B", "a", "a ", "b", "b", "\xc3\xa9"}));
  ASSERT_EQ(all.size(), first_tickets.size());
  EXPECT_EQ(all[3].ticket, first_tickets[0]);
  EXPECT_EQ(all[4].ticket, first_tickets[4]);
  for (const auto& each : all) {
    const auto same = locks.waiters(each.name).at(&each == &all[4] ? 1 : 0);
    EXPECT_EQ(same.name, each.name);
    EXPECT_EQ(same.ticket, each.ticket);
    EXPECT_EQ(same.owner, each.owner);
    EXPECT_EQ(same.thread, each.thread);
    EXPECT_EQ(same.note, each.note);
    EXPECT_EQ(same.note, "") << "of a program that writes none";
    EXPECT_GE(same.age, each.age);
  }
}

TEST_P(tickets, are_told_with_the_note_of_who_waits) {
  const std::string odd = "it's \"quoted\" \\ % \xe2\x98\xbe \xf0\x9f\x94\x92\n-- ?1 $1";
  const auto held = locks_.acquire(name, with({.note = "of the holder"}));
  const auto one = wait_behind(locks_, "one", fair({.note = odd}));
  const auto two = wait_behind(locks_, "two");
  const auto three = wait_behind(locks_, "three", fair({.note = std::string(1000, 'x')}));
  for (const auto& seen : {other_.waiters(name), other_.list_waiters()}) {
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[0].note, odd);
    EXPECT_EQ(seen[1].note, "");
    EXPECT_EQ(seen[2].note, std::string(1000, 'x'));
  }
}

TEST_P(tickets, of_the_dead_are_not_shown) {
  const auto ticket = db().enqueue(name);
  EXPECT_EQ(queue(locks_), names{"sleeper"});
  EXPECT_EQ(names_of(locks_.list_waiters()), names{name});
  db().kill_waiters(1s);
  EXPECT_TRUE(locks_.list_waiters().empty());
  db().erase_ticket(ticket);
  EXPECT_TRUE(locks_.waiters(name).empty());
}

// --- however a wait ends, its ticket goes ----------------------------------------------------------------------------

TEST_P(tickets, go_with_the_grant) {
  for (const auto& options : {fair(), with()}) {
    auto held = locks_.acquire(name, options);
    background waiting{[&](std::stop_token stop) { return other_.acquire(name, options, stop); }};
    ASSERT_TRUE(are_waiting(1)) << "it is woken in turn, fair or not";
    held.release();
    const auto next = waiting.get();
    EXPECT_TRUE(are_waiting(0));
  }
}

TEST_P(tickets, go_at_the_deadline_at_any_place) {
  const auto held = locks_.acquire(name, fair());
  std::vector<std::unique_ptr<background<bool>>> all;
  for (int i = 0; i < 3; ++i)
    all.push_back(std::make_unique<background<bool>>([&, i](std::stop_token stop) {
      bool is_granted = false;
      const auto unanswered = error_of([&] {
        const std::chrono::milliseconds wait{200 - 50 * i};
        is_granted = other_.try_acquire_for(name, wait, fair(), std::move(stop)).has_value();
      });
      EXPECT_TRUE(!unanswered || unanswered->is_retryable()) << unanswered->what();
      return is_granted;
    }));
  for (const auto& each : all) EXPECT_FALSE(each->get());
  EXPECT_TRUE(are_waiting(0));
}

TEST_P(tickets, go_with_a_stop_at_any_place_and_the_others_keep_theirs) {
  names all_granted;
  for (const bool of_one_client : {true, false})
    for (std::size_t which = 0; which < 3; ++which) {
      std::array clients{connect(), connect(), connect()};
      auto held = locks_.acquire(name, fair());
      std::vector<waiter> all;
      names expected{"0", "1", "2"};
      for (std::size_t i = 0; i < 3; ++i)
        all.push_back(wait_behind(clients.at(of_one_client ? 0 : i), std::to_string(i)));
      all.at(which)->stop();
      EXPECT_FALSE(all.at(which)->get());
      expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(which));
      EXPECT_TRUE(eventually([&] { return queue(locks_) == expected; })) << which;
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(which));
      all_granted.insert(all_granted.end(), expected.begin(), expected.end());
      held.release();
      for (const auto& each : all) EXPECT_TRUE(each->get());
      EXPECT_EQ(granted.names(), all_granted) << which;
      EXPECT_TRUE(are_waiting(0));
    }
}

TEST_P(tickets, go_when_the_client_is_closed) {
  auto third = connect();
  auto held = locks_.acquire(name, fair());
  const auto head = wait_behind(other_, "head");
  const auto behind = wait_behind(other_, "behind");
  const auto other = wait_behind(third, "other");
  other_.close();
  EXPECT_TRUE(throws(errc::client_closed, [&] { head->get(); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { behind->get(); }));
  EXPECT_EQ(queue(locks_), names{"other"}) << "nobody is there to see to it later";
  held.release();
  EXPECT_TRUE(other->get());
  EXPECT_TRUE(are_waiting(0));
}

TEST_P(tickets_of_transactions, go_with_an_exception) {
  connect().close();
  auto second = client::connect(db().url(), {.held_transactions = 1, .call_timeout = 300ms, .observer = silent()});
  const auto held = locks_.acquire(name, fair());
  const auto waiting = wait_behind(second, "one");
  std::optional<held_lock> other;
  ASSERT_TRUE(eventually([&] { return error_of([&] { other = second.acquire("other", fair()); }) == std::nullopt; }));
  EXPECT_TRUE(throws(errc::pool_exhausted, [&] { waiting->get(); }));
  EXPECT_TRUE(are_waiting(0));
}

// --- without a ticket one has no place -------------------------------------------------------------------------------

TEST_P(tickets, one_that_is_taken_away_is_replaced_by_another_with_its_note_behind_the_others) {
  auto third = connect();
  auto held = locks_.acquire(name, fair());
  const auto one = wait_behind(other_, "one", fair({.note = "deploy"}));
  const auto two = wait_behind(third, "two");
  const auto three = wait_behind(other_, "three");
  for (const auto* who : {"one", "three"}) {
    const auto ticket = ticket_of(locks_, who);
    db().erase_ticket(ticket);
    EXPECT_TRUE(eventually([&] { return ticket_of(locks_, who) > ticket; })) << who << " does not queue anew";
  }
  EXPECT_EQ(queue(locks_), (names{"two", "one", "three"}));
  EXPECT_EQ(locks_.waiters(name).at(1).note, "deploy");
  held.release();
  for (const auto* each : {&one, &two, &three}) EXPECT_TRUE((*each)->get());
  EXPECT_EQ(granted.names(), (names{"two", "one", "three"}));
  EXPECT_TRUE(are_waiting(0));
}

TEST_P(tickets, one_that_is_taken_away_as_the_lock_is_let_go_costs_the_place_only) {
  for (int i = 0; i < 5; ++i) {
    auto held = locks_.acquire(name, fair());
    const auto one = wait_behind(other_, "one");
    const auto two = wait_behind(other_, "two");
    const auto ticket = ticket_of(locks_, "one");
    held.release();
    db().erase_ticket(ticket);
    EXPECT_TRUE(one->get());
    EXPECT_TRUE(two->get());
    ASSERT_TRUE(are_waiting(0)) << "round " << i;
  }
}

}  // namespace
}  // namespace rowlock::test
