#include "support/tcp_proxy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "support/loopback.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

/// Sends back what it hears, and remembers it. One thread for each connection.
class echo_server {
 public:
  std::uint16_t port() const { return port_of(listener_); }
  int goodbyes() const noexcept { return goodbyes_; }
  std::string heard() {
    const std::lock_guard lock{mutex_};
    return heard_;
  }
  bool hears(const std::string& text) {
    return eventually([&] { return heard() == text; });
  }

 private:
  void accept(const std::stop_token& stop) {
    std::vector<std::jthread> threads;
    while (!stop.stop_requested())
      if (is_readable_within(listener_, 10ms))
        threads.emplace_back([this, number = ::accept(listener_.get(), nullptr, nullptr)](
                                 const std::stop_token& enough) { echo(file_descriptor{number}, enough); });
  }

  void echo(const file_descriptor& client, const std::stop_token& stop) {
    std::array<char, 4096> buffer{};
    while (!stop.stop_requested()) {
      if (!is_readable_within(client, 10ms)) continue;
      const auto size = ::read(client.get(), buffer.data(), buffer.size());
      if (size <= 0) break;
      {
        const std::lock_guard lock{mutex_};
        heard_.append(buffer.data(), static_cast<std::size_t>(size));
      }
      ::send(client.get(), buffer.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL);
    }
    ++goodbyes_;
  }

  file_descriptor listener_ = listening_socket();
  std::atomic<int> goodbyes_{0};
  std::mutex mutex_;
  std::string heard_;
  std::jthread thread_{[this](const std::stop_token& stop) { accept(stop); }};
};

/// What a program sees of a connection.
class talker {
 public:
  explicit talker(std::uint16_t port) {
    if (!connect(socket_, loopback(port))) throw std::system_error{errno, std::generic_category(), "talker"};
  }

  void say(const std::string& text) const { ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL); }

  /// So many bytes, or fewer where the connection ends before.
  std::string hear(std::size_t count) const {
    std::string out;
    std::array<char, 4096> buffer{};
    while (out.size() < count && is_readable_within(socket_, patience)) {
      const auto size = ::read(socket_.get(), buffer.data(), std::min(buffer.size(), count - out.size()));
      if (size <= 0) break;
      out.append(buffer.data(), static_cast<std::size_t>(size));
    }
    return out;
  }

  std::string ask(const std::string& text) const {
    say(text);
    return hear(text.size());
  }

  bool hears_nothing() const { return !is_readable_within(socket_, 50ms); }

  /// 0 where the other side closed, else why reading failed.
  int how_it_ended() const {
    char byte = 0;
    if (!is_readable_within(socket_, patience)) return ETIMEDOUT;
    const auto size = ::read(socket_.get(), &byte, 1);
    return size < 0 ? errno : static_cast<int>(size);
  }

  void leave() { socket_.close(); }

 private:
  file_descriptor socket_ = tcp_socket();
};

class proxied : public testing::Test {
 protected:
  using action = tcp_proxy::action;

  void on_secret(action what) {
    proxy_.on_request(tcp_proxy::contains("secret"), what, [](std::string_view all) { return all.ends_with('.'); });
  }
  bool has_acted() {
    return eventually([&] { return proxy_.has_acted(); });
  }
  bool has_goodbye() {
    return eventually([&] { return server_.goodbyes() == 1; });
  }
  std::string ask_anew(const std::string& text) const { return talker{proxy_.port()}.ask(text); }

  echo_server server_;
  tcp_proxy proxy_{"127.0.0.1", server_.port()};
  talker one_{proxy_.port()};
};

TEST_F(proxied, passes_everything_on_and_counts) {
  const talker two{proxy_.port()};
  EXPECT_EQ(one_.ask("hello"), "hello");
  EXPECT_EQ(two.ask("you"), "you");
  EXPECT_EQ(one_.ask("again"), "again");
  EXPECT_EQ(proxy_.connections(), 2);
  EXPECT_EQ(proxy_.round_trips(), 3);
  const std::string more_than_fits_anywhere(8 << 20, 'x');
  const std::jthread sender{[&] { one_.say(more_than_fits_anywhere); }};
  EXPECT_EQ(one_.hear(more_than_fits_anywhere.size()), more_than_fits_anywhere);
}

TEST_F(proxied, tells_the_server_that_its_client_has_gone) {
  EXPECT_EQ(one_.ask("hello"), "hello");
  one_.leave();
  EXPECT_TRUE(has_goodbye());
}

TEST_F(proxied, cuts) {
  EXPECT_EQ(one_.ask("hello"), "hello");
  proxy_.cut();
  EXPECT_EQ(one_.how_it_ended(), ECONNRESET);
  EXPECT_TRUE(has_goodbye());
  EXPECT_EQ(ask_anew("hello"), "hello");
}

TEST_F(proxied, refuses) {
  EXPECT_EQ(one_.ask("hello"), "hello");
  proxy_.refuse(true);
  EXPECT_EQ(talker{proxy_.port()}.how_it_ended(), 0);
  EXPECT_EQ(one_.ask("hello"), "hello");
  proxy_.refuse(false);
  EXPECT_EQ(ask_anew("hello"), "hello");
}

TEST_F(proxied, swallows_in_a_black_hole_and_makes_up_for_it) {
  EXPECT_EQ(one_.ask("hello"), "hello");
  proxy_.black_hole(true);
  const talker within{proxy_.port()};
  one_.say("one");
  within.say("two");
  EXPECT_TRUE(one_.hears_nothing());
  EXPECT_TRUE(within.hears_nothing());
  EXPECT_EQ(server_.heard(), "hello");
  one_.leave();
  EXPECT_EQ(server_.goodbyes(), 0);
  proxy_.black_hole(false);
  EXPECT_EQ(within.hear(3), "two");
  EXPECT_TRUE(has_goodbye());
  EXPECT_NE(server_.heard().find("one"), std::string::npos);
}

TEST_F(proxied, keeps_answers_to_requests_that_arrive) {
  EXPECT_EQ(one_.ask("hello"), "hello");
  proxy_.keep_answers(true);
  one_.say("one");
  EXPECT_TRUE(server_.hears("helloone"));
  EXPECT_TRUE(one_.hears_nothing());
  proxy_.keep_answers(false);
  EXPECT_EQ(one_.hear(3), "one");
}

TEST_F(proxied, delays_either_way) {
  EXPECT_EQ(one_.ask("hello"), "hello");
  proxy_.delay(100ms);
  const stopwatch watch;
  EXPECT_EQ(one_.ask("hello"), "hello");
  EXPECT_GE(watch.elapsed(), 200ms);
}

TEST_F(proxied, replaces_a_word) {
  proxy_.replace("hello", "howdy");
  EXPECT_EQ(one_.ask("hello you "), "howdy you ");
  EXPECT_EQ(one_.ask("hello again"), "howdy again");
  EXPECT_EQ(server_.heard(), "howdy you howdy again");
}

TEST_F(proxied, cuts_before_a_request_once) {
  on_secret(action::cut_before);
  EXPECT_EQ(one_.ask("hello"), "hello");
  EXPECT_FALSE(proxy_.has_acted());
  one_.say("a secret");
  EXPECT_EQ(one_.how_it_ended(), ECONNRESET);
  EXPECT_TRUE(proxy_.has_acted());
  EXPECT_EQ(server_.heard(), "hello");
  EXPECT_EQ(ask_anew("a secret"), "a secret");
}

TEST_F(proxied, cuts_after_the_whole_answer) {
  on_secret(action::cut_after);
  one_.say("a secret, ");
  EXPECT_TRUE(server_.hears("a secret, "));
  EXPECT_TRUE(one_.hears_nothing()) << "the answer is not complete";
  EXPECT_FALSE(proxy_.has_acted());
  one_.say("that is all.");
  EXPECT_EQ(one_.how_it_ended(), ECONNRESET);
  EXPECT_TRUE(proxy_.has_acted());
  EXPECT_EQ(server_.heard(), "a secret, that is all.");
}

TEST_F(proxied, cuts_where_the_server_goes_in_the_middle_of_its_answer) {
  on_secret(action::cut_after);
  one_.say("a secret");
  EXPECT_TRUE(server_.hears("a secret"));
  one_.leave();
  EXPECT_TRUE(has_acted());
}

TEST_F(proxied, opens_a_black_hole_before_or_after_a_request_for_its_connection_alone) {
  const talker other{proxy_.port()};
  std::string heard;
  for (const auto what : {action::black_hole_before, action::black_hole_after}) {
    const talker one{proxy_.port()};
    on_secret(what);
    one.say("a secret");
    EXPECT_TRUE(has_acted());
    if (what == action::black_hole_after) heard += "a secret";
    EXPECT_TRUE(server_.hears(heard));
    one.say("more");
    EXPECT_TRUE(one.hears_nothing());
    EXPECT_EQ(other.ask("hello"), "hello");
    heard += "hello";
    EXPECT_EQ(server_.heard(), heard);
    EXPECT_EQ(server_.goodbyes(), 0);
  }
}

TEST_F(proxied, holds_a_request_until_it_may_go) {
  on_secret(action::hold);
  one_.say("a secret");
  EXPECT_TRUE(has_acted());
  EXPECT_TRUE(one_.hears_nothing());
  EXPECT_EQ(server_.heard(), "");
  proxy_.let_go();
  EXPECT_EQ(one_.hear(8), "a secret");
}

TEST_F(proxied, lets_go_of_a_request_whose_client_has_gone) {
  EXPECT_EQ(one_.ask("hello "), "hello ");
  on_secret(action::hold);
  one_.say("a secret");
  EXPECT_TRUE(has_acted());
  one_.leave();
  EXPECT_EQ(server_.goodbyes(), 0);
  proxy_.let_go();
  EXPECT_TRUE(server_.hears("hello a secret"));
  EXPECT_TRUE(has_goodbye());
}

TEST(answers_of_servers, end_where_they_are_complete) {
  using namespace std::string_literals;
  const auto done = "\7\0\0\1\0\1\0\2\0\0\0"s;
  const auto failed = "\3\0\0\5\xFF\xB5\4"s;
  const auto column = "\1\0\0\1\1\4\0\0\2\3def"s;
  const auto mark = "\5\0\0\3\xFE\0\0\2\0"s;
  const auto newer_mark = "\7\0\0\5\xFE\0\0\2\0\0\0"s;
  const auto row = "\2\0\0\4\0\xFE"s;
  const auto complete = {done,
                         failed,
                         column + mark + row + mark,
                         column + mark + mark,
                         column + mark + row + failed,
                         column + row + newer_mark};
  for (const auto& whole : complete)
    EXPECT_TRUE(tcp_proxy::ends_as_mysql_answers(whole)) << testing::PrintToString(whole);
  const auto parts = {""s, done.substr(0, 10), column, column + mark, column + mark + row, column + row};
  for (const auto& part : parts) EXPECT_FALSE(tcp_proxy::ends_as_mysql_answers(part)) << testing::PrintToString(part);
  for (const auto& whole : {"C...Z\0\0\0\5I"s, "Z\0\0\0\5T"s})
    EXPECT_TRUE(tcp_proxy::ends_with_ready_for_query(whole)) << testing::PrintToString(whole);
  for (const auto& part : {"C...Z\0\0\0\5"s, ""s})
    EXPECT_FALSE(tcp_proxy::ends_with_ready_for_query(part)) << testing::PrintToString(part);
}

}  // namespace
}  // namespace rowlock::test
