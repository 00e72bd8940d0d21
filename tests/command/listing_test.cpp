#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "command/command.hpp"

namespace rowlock::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class command_listing : public command {
 protected:
  outcome ask(const words& arguments) const {
    auto result = finish(rowlock(arguments));
    EXPECT_TRUE(result.err.empty() || ((result.end == exited(1) || result.out.empty()) && is_messages(result.err)))
        << result;
    return result;
  }

  json ask_json(const words& arguments) const {
    const auto result = ask(arguments + words{"--json"});
    EXPECT_EQ(result.end, exited(0)) << result;
    return json::parse(result.out, nullptr, false);
  }

  std::vector<std::string> names(const words& arguments) const {
    std::vector<std::string> out;
    for (const auto& lock : ask_json(arguments)) out.push_back(lock.at("name"));
    return out;
  }

  static std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
  }

  /// An hour: nothing changes while it is looked at.
  held_lock hold(const std::string& name, const std::string& note = {}) {
    return locks_.acquire(name, {.lease = 1h, .note = note});
  }

  void change_row_of_job(const std::string& assignments) const {
    const auto changed = finish({.words = {"sqlite3", database_.file().string(),
                                           "UPDATE rowlock_lock SET " + assignments + " WHERE name = 'job'"}});
    EXPECT_EQ(changed.end, exited(0)) << changed;
  }

  const std::string odd_ = "odd \"quoted\" \\ \x1b[31m\t\n\r\x7f \xc2\x9b \u202e \xe2\x98\xbe";
};

TEST_F(command_listing, says_that_nothing_is_held) {
  for (const auto& [prefix, sentence] :
       {std::pair{words{}, "rowlock: no lock is held\n"},
        std::pair{words{"a"}, "rowlock: no lock is held whose name begins with \"a\"\n"}}) {
    const auto result = finish(rowlock(words{"list"} + prefix));
    EXPECT_EQ(result.end, exited(0));
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, sentence);
  }
}

TEST_F(command_listing, is_empty_where_nothing_is_held) {
  locks_.acquire("released").release();
  const auto text = ask({"list"});
  EXPECT_EQ(text.end, exited(0));
  EXPECT_THAT(text.out, IsEmpty()) << "not even a heading";
  EXPECT_EQ(ask_json({"list"}), json::array());
}

TEST_F(command_listing, has_a_line_for_each_lock_under_a_heading) {
  const auto one = hold("orders/1", "first");
  const auto two = hold("orders/2");
  const auto all = lines(ask({"list"}).out);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_THAT(all[0], MatchesRegex("NAME +TOKEN +HELD +EXPIRES +OWNER +NOTE *"));
  EXPECT_THAT(all[1], StartsWith("orders/1 "));
  EXPECT_THAT(all[1], HasSubstr(" " + std::to_string(one.token().value()) + " "));
  EXPECT_THAT(all[1], HasSubstr(database_.row("orders/1").value().owner.value()));
  EXPECT_THAT(all[1], HasSubstr("first"));
  EXPECT_THAT(all[2], StartsWith("orders/2 "));
}

TEST_F(command_listing, tells_all_as_json) {
  const auto held = hold("orders/1", "for people");
  const auto all = ask_json({"list"});
  ASSERT_TRUE(all.is_array());
  ASSERT_EQ(all.size(), 1U);
  const auto& lock = all[0];
  const auto row = database_.row("orders/1").value();
  EXPECT_EQ(lock.at("name"), "orders/1");
  EXPECT_EQ(lock.at("token"), held.token().value());
  EXPECT_TRUE(lock.at("token").is_number_integer());
  EXPECT_EQ(lock.at("owner"), row.owner.value());
  EXPECT_EQ(lock.at("thread"), row.thread.value());
  EXPECT_EQ(lock.at("held_by_transaction"), false);
  EXPECT_EQ(lock.at("note"), "for people");
  for (const auto* whole : {"held_for_us", "expires_in_us"}) EXPECT_TRUE(lock.at(whole).is_number_integer());
  const std::chrono::microseconds held_for{lock.at("held_for_us").get<std::int64_t>()};
  const std::chrono::microseconds expires_in{lock.at("expires_in_us").get<std::int64_t>()};
  EXPECT_GE(held_for, 0s);
  EXPECT_LT(held_for, 300s);
  EXPECT_GT(expires_in, 3300s);
  EXPECT_LE(expires_in, 3600s);
  EXPECT_EQ(lock.size(), 9U) << "and nothing else: " << lock;
}

TEST_F(command_listing, shows_one_by_its_name) {
  const auto one = hold("orders/1", "first");
  const auto other = hold("orders/11", "other");
  const auto text = ask({"show", "orders/1"});
  EXPECT_EQ(text.end, exited(0));
  for (const auto& each : {std::string{"orders/1"}, std::to_string(one.token().value()), std::string{"first"},
                           database_.row("orders/1").value().owner.value()})
    EXPECT_THAT(text.out, HasSubstr(each));
  EXPECT_THAT(text.out, HasSubstr("\nheld as   a lease\n"));
  EXPECT_THAT(text.out, Not(HasSubstr("other")));
  const auto object = ask_json({"show", "orders/1"});
  ASSERT_TRUE(object.is_object());
  EXPECT_EQ(object.at("name"), "orders/1");
  EXPECT_EQ(object.at("token"), one.token().value());
  EXPECT_EQ(object.at("waiters"), json::array());
  EXPECT_EQ(object.size(), 10U) << object;
}

TEST_F(command_listing, shows_nothing_where_nobody_holds_it) {
  locks_.acquire("released").release();
  for (const auto* name : {"released", "never heard of"}) {
    const auto text = ask({"show", name});
    EXPECT_EQ(text.end, exited(1));
    EXPECT_THAT(text.out, IsEmpty());
    const auto object = ask({"show", name, "--json"});
    EXPECT_EQ(object.end, exited(1));
    EXPECT_EQ(json::parse(object.out, nullptr, false), json(nullptr)) << object;
  }
}

TEST_F(command_listing, shows_who_waits_in_their_order) {
  const auto held = hold("job", "mine");
  program first{run({"--note", odd_, "--", "true"})};
  ASSERT_TRUE(eventually([&] { return is_queued(first.pid()); }));
  program second{run({"--fair", "--", "true"})};
  ASSERT_TRUE(eventually([&] { return is_queued(second.pid()); }));

  const auto text = lines(ask({"show", "job"}).out);
  ASSERT_GE(text.size(), 4U);
  EXPECT_THAT(text, testing::Contains(MatchesRegex("note +mine")));
  const auto queue = std::vector<std::string>(text.end() - 4, text.end());
  EXPECT_THAT(queue[0], IsEmpty());
  EXPECT_THAT(queue[1], MatchesRegex("TICKET +AGE +OWNER +THREAD +NOTE"));
  EXPECT_THAT(queue[2], MatchesRegex("[0-9]+ +[0-9.]+m?s +rowlock:.*:" + std::to_string(first.pid()) + ":.*"));
  EXPECT_THAT(queue[2], EndsWith(R"(odd "quoted" \ \x1b[31m\t\n\x0d\x7f \u009b \u202e ☾)"));
  EXPECT_THAT(queue[3], MatchesRegex("[0-9]+ +[0-9.]+m?s +rowlock:.*:" + std::to_string(second.pid()) + ":.* [^ ]+"));

  const auto waiters = ask_json({"show", "job"}).at("waiters");
  ASSERT_EQ(waiters.size(), 2U);
  EXPECT_LT(waiters[0].at("ticket").get<std::int64_t>(), waiters[1].at("ticket").get<std::int64_t>());
  EXPECT_THAT(waiters[0].at("owner").get<std::string>(), HasSubstr(":" + std::to_string(first.pid()) + ":"));
  EXPECT_THAT(waiters[1].at("owner").get<std::string>(), HasSubstr(":" + std::to_string(second.pid()) + ":"));
  EXPECT_EQ(waiters[0].at("note"), odd_);
  EXPECT_EQ(waiters[1].at("note"), "");
  for (const auto& each : waiters) {
    EXPECT_TRUE(each.at("thread").is_string());
    const std::chrono::microseconds waits_for{each.at("waits_for_us").get<std::int64_t>()};
    EXPECT_GE(waits_for, 0s);
    EXPECT_LT(waits_for, 300s);
    EXPECT_EQ(each.at("name"), "job");
    EXPECT_EQ(each.size(), 6U) << "and nothing else: " << each;
  }
}

TEST_F(command_listing, shows_who_waits_no_longer_than_they_do) {
  auto held = hold("job");
  program waiter{run(words{"--"} + watcher({"15"}))};
  ASSERT_TRUE(eventually([&] { return is_queued(waiter.pid()); }));
  held.release();
  ASSERT_TRUE(waiter.says("started"));
  const auto object = ask_json({"show", "job"});
  EXPECT_THAT(object.at("owner").get<std::string>(), HasSubstr(":" + std::to_string(waiter.pid()) + ":"));
  EXPECT_EQ(object.at("waiters"), json::array());
  EXPECT_THAT(ask({"show", "job"}).out, Not(HasSubstr("TICKET")));
  waiter.signal(SIGTERM);
  EXPECT_EQ(waiter.wait(), exited(40));
}

TEST_F(command_listing, shows_who_waits_where_nobody_holds_it) {
  queue_stranger("shop:far away:1:abc", "7");
  const auto text = ask({"show", "job"});
  EXPECT_EQ(text.end, exited(1));
  const auto all = lines(text.out);
  ASSERT_EQ(all.size(), 2U) << text;
  EXPECT_THAT(all[0], MatchesRegex("TICKET +AGE +OWNER +THREAD +NOTE"));
  EXPECT_THAT(all[1], MatchesRegex("1 +1m3[0-9]s +shop:far away:1:abc +7"));
  EXPECT_THAT(text.err, HasSubstr("is not held"));

  const auto result = ask({"show", "job", "--json"});
  EXPECT_EQ(result.end, exited(1));
  const auto object = json::parse(result.out, nullptr, false);
  ASSERT_TRUE(object.is_object()) << result;
  EXPECT_EQ(object.at("name"), "job");
  for (const auto* of_a_holder : {"token", "owner", "thread", "held_for_us", "expires_in_us", "note"})
    EXPECT_EQ(object.at(of_a_holder), json(nullptr)) << of_a_holder;
  EXPECT_EQ(object.at("held_by_transaction"), false);
  EXPECT_EQ(object.at("waiters").at(0).at("thread"), "7");
  EXPECT_EQ(object.size(), 10U) << object;
}

TEST_F(command_listing, lists_who_waits_for_any_lock) {
  queue_stranger("shop:far away:1:abc", "7");
  const auto held = hold("orders/1");
  program waiter{rowlock({"run", "orders/1", "--note", "a note", "--", "true"})};
  ASSERT_TRUE(eventually([&] { return !locks_.waiters("orders/1").empty(); }));
  const auto text = ask({"waiters"});
  EXPECT_EQ(text.end, exited(0));
  const auto all = lines(text.out);
  ASSERT_EQ(all.size(), 3U) << text;
  EXPECT_THAT(all[0], MatchesRegex("NAME +TICKET +AGE +OWNER +THREAD +NOTE"));
  EXPECT_THAT(all[1], MatchesRegex("job +1 +1m3[0-9]s +shop:far away:1:abc +7"));
  EXPECT_THAT(all[2], MatchesRegex("orders/1 +2 +.*:" + std::to_string(waiter.pid()) + ":.* a note"));
  const auto queues = ask_json({"waiters"});
  ASSERT_EQ(queues.size(), 2U);
  EXPECT_EQ(queues[0].at("name"), "job");
  EXPECT_EQ(queues[0].at("note"), "");
  EXPECT_EQ(queues[1].at("name"), "orders/1");
  EXPECT_EQ(queues[1].at("note"), "a note");
  EXPECT_EQ(ask_json({"waiters", "--prefix", "ord"}).size(), 1U);
  EXPECT_EQ(ask({"waiters", "--prefix", "x"}).end, exited(1));
  EXPECT_THAT(ask({"waiters", "--prefix", "x"}).err, HasSubstr("begins with \"x\""));
}

TEST_F(command_listing, shows_not_who_waits_for_another) {
  queue_stranger("shop:far away:1:abc");
  const auto held = hold("another job");
  EXPECT_THAT(ask({"show", "another job"}).out, Not(HasSubstr("TICKET")));
  EXPECT_EQ(ask({"show", "jo"}).end, exited(1));
  EXPECT_THAT(ask({"show", "jo"}).out, IsEmpty());
}

TEST_F(command_listing, escapes_control_characters_of_those_who_wait) {
  queue_stranger("odd \x1b[31m\n\xc2\x9b", "\r\t");
  const auto text = ask({"show", "job"}).out;
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << int{c};
  EXPECT_THAT(text, HasSubstr(R"(odd \x1b[31m\n)"));
  EXPECT_THAT(text, HasSubstr(R"(\x0d\t)"));
  EXPECT_EQ(lines(text).size(), 2U);
  const auto queue = json::parse(ask({"show", "job", "--json"}).out, nullptr, false).at("waiters");
  EXPECT_EQ(queue.at(0).at("owner"), "odd \x1b[31m\n\xc2\x9b");
}

TEST_F(command_listing, leaves_out_what_has_expired) {
  const auto held = hold("job");
  database_.expire("job");
  EXPECT_THAT(ask({"list"}).out, IsEmpty());
  EXPECT_EQ(ask({"show", "job"}).end, exited(1));
}

TEST_F(command_listing, is_narrowed_down_by_a_prefix) {
  const auto a = hold("orders/1");
  const auto b = hold("orders/2");
  const auto c = hold("order");
  const auto d = hold("%");
  EXPECT_THAT(names({"list"}), ElementsAre("%", "order", "orders/1", "orders/2"));
  EXPECT_THAT(names({"list", ""}), ElementsAre("%", "order", "orders/1", "orders/2"));
  EXPECT_THAT(names({"list", "orders/"}), ElementsAre("orders/1", "orders/2"));
  EXPECT_THAT(names({"list", "order"}), ElementsAre("order", "orders/1", "orders/2"));
  EXPECT_THAT(names({"list", "%"}), ElementsAre("%")) << "it is no pattern";
  EXPECT_THAT(names({"list", "zzz"}), IsEmpty());
  EXPECT_EQ(lines(ask({"list", "orders/"}).out).size(), 3U);
  EXPECT_THAT(ask({"list", "zzz"}).out, IsEmpty());
}

TEST_F(command_listing, escapes_control_characters_in_text) {
  const auto held = hold(odd_, odd_);
  for (const auto& arguments : std::vector<words>{{"list"}, {"show", odd_}}) {
    const auto text = ask(arguments).out;
    for (const char c : text) EXPECT_TRUE(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f)) << int{c};
    EXPECT_THAT(text, Not(HasSubstr("\xc2\x9b"))) << "it begins an escape sequence too";
    EXPECT_THAT(text, Not(HasSubstr("\u202e"))) << "it turns what follows around";
    EXPECT_EQ(occurrences(text, R"(\x1b)"), 2) << text;
    EXPECT_EQ(occurrences(text, R"(\n)"), 2);
    EXPECT_EQ(occurrences(text, "\xe2\x98\xbe"), 2) << "what is no control character stays";
  }
  EXPECT_EQ(lines(ask({"list"}).out).size(), 2U);
}

TEST_F(command_listing, gives_odd_texts_back_whole_as_json) {
  const auto held = hold(odd_, odd_);
  const auto text = ask({"list", "--json"}).out;
  for (const auto* const obeyed : {"\xc2\x9b", "\u202e", "\x7f"}) EXPECT_THAT(text, Not(HasSubstr(obeyed)));
  const auto all = ask_json({"list"});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("name"), odd_);
  EXPECT_EQ(all[0].at("note"), odd_);
  EXPECT_EQ(ask_json({"show", odd_}).at("note"), odd_);
}

TEST_F(command_listing, knows_a_lock_without_a_lease) {
  const auto held = hold("job");
  change_row_of_job("expires_at = NULL");
  const auto object = ask_json({"show", "job"});
  EXPECT_EQ(object.at("expires_in_us"), json(nullptr));
  EXPECT_EQ(object.at("held_by_transaction"), true);
  EXPECT_EQ(ask_json({"list"}).at(0).at("held_by_transaction"), true);
  const auto owner = database_.row("job").value().owner.value();
  const auto text = ask({"show", "job"}).out;
  EXPECT_THAT(text, HasSubstr("\nheld as   a transaction\n"));
  EXPECT_THAT(text, HasSubstr("held by a transaction"));
  EXPECT_THAT(text, HasSubstr(owner));
  const auto all = lines(ask({"list"}).out);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(all[1], MatchesRegex("job .* - .*"));
  EXPECT_THAT(all[1], HasSubstr(owner));
}

// As a server has it, where the transaction has not committed who holds the lock.
TEST_F(command_listing, knows_a_lock_of_an_unknown_transaction) {
  const auto held = hold("job");
  change_row_of_job("expires_at = NULL, owner = '', thread = ''");
  const auto object = ask_json({"show", "job"});
  for (const auto* unknown : {"owner", "thread"}) EXPECT_EQ(object.at(unknown), nullptr) << unknown;
  EXPECT_EQ(object.at("held_by_transaction"), true);
  EXPECT_THAT(ask({"show", "job"}).out, testing::AllOf(HasSubstr("owner     -\n"), HasSubstr("thread    -\n"),
                                                       HasSubstr("held by a transaction")));
  EXPECT_THAT(ask({"list"}).out, HasSubstr("  a transaction"));
  const auto result = finish(run({"--wait", "0", "--", "true"}));
  EXPECT_TRUE(refused(result, 75));
  EXPECT_THAT(result.err, HasSubstr("held by a transaction"));
}

TEST_F(command_listing, has_what_a_run_holds) {
  program started{run(words{"--lease", "1h", "--note", "a run", "--"} + watcher({"15"}))};
  ASSERT_TRUE(started.says("started"));
  const auto object = ask_json({"show", "job"});
  EXPECT_EQ(object.at("note"), "a run");
  EXPECT_THAT(object.at("owner").get<std::string>(), HasSubstr(":" + std::to_string(started.pid()) + ":"));
  started.signal(SIGTERM);
  EXPECT_EQ(started.wait(), exited(40));
  EXPECT_EQ(ask({"show", "job"}).end, exited(1));
}

TEST_F(command_listing, fails_where_it_cannot_be_written) {
  const auto held = hold("job");
  for (const auto& arguments : std::vector<words>{{"list"}, {"show", "job"}, {"--help"}}) {
    auto how = rowlock({});
    how.words = words{"sh", "-c", "exec \"$@\" > /dev/full", "sh"} + rowlock(arguments).words;
    const auto result = finish(how);
    ASSERT_TRUE(result.end.has_value());
    EXPECT_NE(result.end, exited(0)) << testing::PrintToString(arguments);
    EXPECT_NE(result.end, exited(1)) << "which means that nobody holds it";
  }
}

}  // namespace
}  // namespace rowlock::test
