#include "support/tcp_proxy.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "testkit/eventually.hpp"

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

class tcp_socket {
 public:
  explicit tcp_socket(int number) : number_{number} {}
  tcp_socket(const tcp_socket&) = delete;
  tcp_socket& operator=(const tcp_socket&) = delete;
  ~tcp_socket() { close(); }

  int get() const noexcept { return number_; }
  void close() noexcept {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

sockaddr_in here(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

bool is_readable_within(int socket, std::chrono::milliseconds time) {
  pollfd one{.fd = socket, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, static_cast<int>(time.count())) == 1;
}

/// Sends a line back, and remembers it. One thread for each connection.
class echo_server {
 public:
  echo_server() : listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    auto address = here(0);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_.get(), generic, size) != 0 || ::listen(listener_.get(), 16) != 0 ||
        ::getsockname(listener_.get(), generic, &size) != 0)
      throw std::system_error{errno, std::generic_category(), "echo_server"};
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread{[this](const std::stop_token& stop) { accept(stop); }};
  }

  std::uint16_t port() const noexcept { return port_; }
  int goodbyes() const noexcept { return goodbyes_; }
  std::string heard() {
    const std::lock_guard lock{mutex_};
    return heard_;
  }

 private:
  void accept(const std::stop_token& stop) {
    std::vector<std::jthread> threads;
    while (!stop.stop_requested())
      if (is_readable_within(listener_.get(), 10ms))
        threads.emplace_back([this, client = ::accept(listener_.get(), nullptr, nullptr)](
                                 const std::stop_token& enough) { echo(tcp_socket{client}, enough); });
  }

  void echo(const tcp_socket& client, const std::stop_token& stop) {
    std::array<char, 4096> buffer{};
    while (!stop.stop_requested()) {
      if (!is_readable_within(client.get(), 10ms)) continue;
      const auto size = ::read(client.get(), buffer.data(), buffer.size());
      if (size <= 0) break;
      const std::string bytes{buffer.data(), static_cast<std::size_t>(size)};
      {
        const std::lock_guard lock{mutex_};
        heard_ += bytes;
      }
      ::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    ++goodbyes_;
  }

  tcp_socket listener_;
  std::uint16_t port_ = 0;
  std::atomic<int> goodbyes_{0};
  std::mutex mutex_;
  std::string heard_;
  std::jthread thread_;
};

/// What a program sees of a connection.
class talker {
 public:
  explicit talker(std::uint16_t port) : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    const auto address = here(port);
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::system_error{errno, std::generic_category(), "talker"};
  }

  void say(const std::string& text) const { ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL); }

  /// So many bytes, or fewer where the connection ends before.
  std::string hear(std::size_t count) const {
    std::string out;
    std::array<char, 4096> buffer{};
    while (out.size() < count && is_readable_within(socket_.get(), std::chrono::milliseconds{patience})) {
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

  bool hears_nothing_for(std::chrono::milliseconds time) const { return !is_readable_within(socket_.get(), time); }

  /// 0 where the other side closed, else why reading failed.
  int how_it_ended() const {
    std::array<char, 16> buffer{};
    if (!is_readable_within(socket_.get(), std::chrono::milliseconds{patience})) return ETIMEDOUT;
    const auto size = ::read(socket_.get(), buffer.data(), buffer.size());
    return size < 0 ? errno : static_cast<int>(size);
  }

  void leave() { socket_.close(); }

 private:
  tcp_socket socket_;
};

class proxied : public testing::Test {
 protected:
  using action = tcp_proxy::action;

  static bool ends_with_full_stop(std::string_view answer) { return answer.ends_with('.'); }

  void on(const std::string& text, action what) {
    proxy_.on_request(tcp_proxy::contains(text), what, ends_with_full_stop);
  }

  echo_server server_;
  tcp_proxy proxy_{"127.0.0.1", server_.port()};
};

TEST_F(proxied, passes_everything_on_and_counts) {
  const talker one{proxy_.port()};
  const talker two{proxy_.port()};
  EXPECT_EQ(one.ask("hello"), "hello");
  EXPECT_EQ(two.ask("you"), "you");
  EXPECT_EQ(one.ask("again"), "again");
  EXPECT_EQ(proxy_.connections(), 2);
  EXPECT_EQ(proxy_.round_trips(), 3);
  EXPECT_EQ(proxy_.bytes_to_server(), 13U);
  EXPECT_EQ(proxy_.bytes_to_client(), 13U);
}

TEST_F(proxied, passes_on_more_than_fits_anywhere) {
  const talker one{proxy_.port()};
  const std::string much(8 << 20, 'x');
  const std::jthread sender{[&] { one.say(much); }};
  EXPECT_EQ(one.hear(much.size()), much);
}

TEST_F(proxied, tells_either_side_that_the_other_has_gone) {
  {
    const talker one{proxy_.port()};
    EXPECT_EQ(one.ask("hello"), "hello");
  }
  EXPECT_TRUE(eventually([&] { return server_.goodbyes() == 1 && proxy_.open_connections() == 0; }));
}

TEST_F(proxied, cuts) {
  const talker one{proxy_.port()};
  EXPECT_EQ(one.ask("hello"), "hello");
  proxy_.cut();
  EXPECT_EQ(one.how_it_ended(), ECONNRESET);
  EXPECT_TRUE(eventually([&] { return server_.goodbyes() == 1; }));
  EXPECT_EQ(talker{proxy_.port()}.ask("hello"), "hello");
}

TEST_F(proxied, refuses) {
  const talker before{proxy_.port()};
  EXPECT_EQ(before.ask("hello"), "hello");
  proxy_.refuse(true);
  EXPECT_EQ(talker{proxy_.port()}.how_it_ended(), 0);
  EXPECT_EQ(before.ask("hello"), "hello");
  proxy_.refuse(false);
  EXPECT_EQ(talker{proxy_.port()}.ask("hello"), "hello");
}

TEST_F(proxied, swallows_in_a_black_hole_and_makes_up_for_it) {
  talker before{proxy_.port()};
  EXPECT_EQ(before.ask("hello"), "hello");
  proxy_.black_hole(true);
  const talker within{proxy_.port()};
  before.say("one");
  within.say("two");
  EXPECT_TRUE(before.hears_nothing_for(50ms));
  EXPECT_TRUE(within.hears_nothing_for(50ms));
  EXPECT_EQ(server_.heard(), "hello");
  before.leave();
  EXPECT_EQ(server_.goodbyes(), 0);
  proxy_.black_hole(false);
  EXPECT_EQ(within.hear(3), "two");
  EXPECT_TRUE(eventually([&] { return server_.goodbyes() == 1; }));
  EXPECT_NE(server_.heard().find("one"), std::string::npos);
}

TEST_F(proxied, keeps_answers_to_requests_that_arrive) {
  talker client{proxy_.port()};
  EXPECT_EQ(client.ask("hello"), "hello");
  proxy_.keep_answers(true);
  client.say("one");
  EXPECT_TRUE(eventually([&] { return server_.heard() == "helloone"; }));
  EXPECT_TRUE(client.hears_nothing_for(50ms));
  proxy_.keep_answers(false);
  EXPECT_EQ(client.hear(3), "one");
}

TEST_F(proxied, delays_either_way) {
  const talker one{proxy_.port()};
  EXPECT_EQ(one.ask("hello"), "hello");
  proxy_.delay(100ms);
  const stopwatch watch;
  EXPECT_EQ(one.ask("hello"), "hello");
  EXPECT_GE(watch.elapsed(), 200ms);
  proxy_.delay(0ms);
  EXPECT_EQ(one.ask("hello"), "hello");
}

TEST_F(proxied, cuts_before_a_request_once) {
  const talker one{proxy_.port()};
  on("secret", action::cut_before);
  EXPECT_EQ(one.ask("hello"), "hello");
  EXPECT_FALSE(proxy_.has_acted());
  one.say("a secret");
  EXPECT_EQ(one.how_it_ended(), ECONNRESET);
  EXPECT_TRUE(proxy_.has_acted());
  EXPECT_EQ(server_.heard(), "hello");
  EXPECT_EQ(talker{proxy_.port()}.ask("a secret"), "a secret");
}

TEST_F(proxied, cuts_after_the_whole_answer) {
  const talker one{proxy_.port()};
  on("secret", action::cut_after);
  one.say("a secret, ");
  EXPECT_TRUE(eventually([&] { return server_.heard() == "a secret, "; }));
  EXPECT_TRUE(one.hears_nothing_for(50ms)) << "the answer is not complete";
  EXPECT_FALSE(proxy_.has_acted());
  one.say("that is all.");
  EXPECT_EQ(one.how_it_ended(), ECONNRESET);
  EXPECT_TRUE(proxy_.has_acted());
  EXPECT_EQ(server_.heard(), "a secret, that is all.");
}

TEST_F(proxied, cuts_where_the_server_goes_in_the_middle_of_its_answer) {
  talker one{proxy_.port()};
  on("secret", action::cut_after);
  one.say("a secret");
  EXPECT_TRUE(eventually([&] { return server_.heard() == "a secret"; }));
  one.leave();
  EXPECT_TRUE(eventually([&] { return proxy_.has_acted() && proxy_.open_connections() == 0; }));
}

TEST_F(proxied, opens_a_black_hole_before_a_request) {
  const talker one{proxy_.port()};
  on("secret", action::black_hole_before);
  one.say("a secret");
  EXPECT_TRUE(eventually([&] { return proxy_.has_acted(); }));
  EXPECT_TRUE(one.hears_nothing_for(50ms));
  EXPECT_EQ(server_.heard(), "");
  const talker other{proxy_.port()};
  EXPECT_EQ(other.ask("hello"), "hello") << "other connections are not concerned";
  EXPECT_EQ(server_.goodbyes(), 0);
}

TEST_F(proxied, opens_a_black_hole_after_a_request) {
  const talker one{proxy_.port()};
  on("secret", action::black_hole_after);
  one.say("a secret");
  EXPECT_TRUE(eventually([&] { return server_.heard() == "a secret"; }));
  EXPECT_TRUE(proxy_.has_acted());
  EXPECT_TRUE(one.hears_nothing_for(50ms));
  one.say("more");
  EXPECT_TRUE(one.hears_nothing_for(50ms));
  EXPECT_EQ(server_.heard(), "a secret");
}

TEST_F(proxied, replaces_a_word) {
  const talker one{proxy_.port()};
  proxy_.replace("hello", "howdy");
  EXPECT_EQ(one.ask("hello you "), "howdy you ");
  EXPECT_EQ(one.ask("hello again"), "howdy again");
  EXPECT_EQ(server_.heard(), "howdy you howdy again");
}

TEST_F(proxied, holds_a_request_until_it_may_go) {
  const talker one{proxy_.port()};
  on("secret", action::hold);
  one.say("a secret");
  EXPECT_TRUE(eventually([&] { return proxy_.has_acted(); }));
  EXPECT_TRUE(one.hears_nothing_for(50ms));
  EXPECT_EQ(server_.heard(), "");
  proxy_.let_go();
  EXPECT_EQ(one.hear(8), "a secret");
}

TEST_F(proxied, lets_go_of_a_request_whose_client_has_gone) {
  talker one{proxy_.port()};
  EXPECT_EQ(one.ask("hello "), "hello ");
  on("secret", action::hold);
  one.say("a secret");
  EXPECT_TRUE(eventually([&] { return proxy_.has_acted(); }));
  one.leave();
  EXPECT_EQ(server_.goodbyes(), 0);
  proxy_.let_go();
  EXPECT_TRUE(eventually([&] { return server_.heard() == "hello a secret"; }));
  EXPECT_TRUE(eventually([&] { return server_.goodbyes() == 1; }));
}

TEST(ready_for_query, ends_an_answer) {
  using namespace std::string_literals;
  EXPECT_TRUE(tcp_proxy::ends_with_ready_for_query("C...Z\0\0\0\5I"s));
  EXPECT_TRUE(tcp_proxy::ends_with_ready_for_query("Z\0\0\0\5T"s));
  EXPECT_FALSE(tcp_proxy::ends_with_ready_for_query("C...Z\0\0\0\5"s));
  EXPECT_FALSE(tcp_proxy::ends_with_ready_for_query(""s));
}

TEST(mysql_answer, ends_with_one_word_or_behind_its_rows) {
  using namespace std::string_literals;
  const auto ends = [](const std::string& answer) { return tcp_proxy::ends_as_mysql_answers(answer); };
  const auto done = "\7\0\0\1\0\1\0\2\0\0\0"s;
  EXPECT_TRUE(ends(done));
  EXPECT_TRUE(ends("\3\0\0\1\xFF\xB5\4"s));
  EXPECT_FALSE(ends(done.substr(0, 10)));
  EXPECT_FALSE(ends(""));
  const auto column = "\1\0\0\1\1\4\0\0\2\3def"s;
  const auto mark = "\5\0\0\3\xFE\0\0\2\0"s;
  const auto row = "\2\0\0\4\0\xFE"s;
  EXPECT_FALSE(ends(column));
  EXPECT_FALSE(ends(column + mark));
  EXPECT_FALSE(ends(column + mark + row));
  EXPECT_TRUE(ends(column + mark + row + mark));
  EXPECT_TRUE(ends(column + mark + mark));
  EXPECT_TRUE(ends(column + mark + row + "\3\0\0\5\xFF\xB5\4"s));
  const auto newer_mark = "\7\0\0\5\xFE\0\0\2\0\0\0"s;
  EXPECT_FALSE(ends(column + row));
  EXPECT_TRUE(ends(column + row + newer_mark));
}

}  // namespace
}  // namespace rowlock::test
