#include "support/tcp_proxy.hpp"

#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <future>
#include <list>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "support/loopback.hpp"

namespace rowlock::test {

namespace {

using steady = std::chrono::steady_clock;

/// Closes with a TCP reset, which the other side notices.
void reset(file_descriptor& socket) noexcept {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  if (socket.get() >= 0) ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket.close();
}

void send_at_once(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// Blocks: servers of tests are near. Not open if the connection fails.
file_descriptor connect_to(const sockaddr_in& address) {
  auto out = tcp_socket();
  if (!connect(out, address)) out.close();
  send_at_once(out.get());
  return out;
}

sockaddr_in address_of(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) throw std::runtime_error{"no such host: " + host};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner{found, ::freeaddrinfo};
  auto out = *reinterpret_cast<const sockaddr_in*>(found->ai_addr);
  out.sin_port = htons(port);
  return out;
}

/// One direction of a connection: the data that was read on one side and must be written to the other.
struct stream {
  struct piece {
    steady::time_point due;
    std::string bytes;
  };
  std::deque<piece> pieces;
  bool ended = false;      // the sending side has closed
  bool passed_on = false;  // and the other side was closed for it
};

struct connection {
  file_descriptor client;
  file_descriptor server;  // not open yet if the connection was accepted by a black hole
  stream up;
  stream down;
  std::string request;  // since the server's last answer
  bool server_spoke_last = true;
  bool black = false;  // permanently
  bool held = false;
  bool swallows_answer = false;
  std::string answer;  // if it is swallowed
  bool dead = false;

  void reset() {
    test::reset(client);
    test::reset(server);
    dead = true;
  }
};

}  // namespace

/// Everything except the counters belongs to the proxy's thread; other threads act by `on_thread`.
class tcp_proxy::loop {
 public:
  loop(const std::string& host, std::uint16_t server_port)
      : server{address_of(host, server_port)},
        listener_{listening_socket(SOMAXCONN, SOCK_NONBLOCK)},
        wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
        thread_{[this](const std::stop_token& stop) { run(stop); }} {}
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;
  ~loop() {
    thread_.request_stop();
    wake();
  }

  void on_thread(std::function<void()> task) {
    std::packaged_task<void()> packaged{std::move(task)};
    auto done = packaged.get_future();
    {
      const std::lock_guard lock{mutex_};
      tasks_.push_back(std::move(packaged));
    }
    wake();
    done.get();
  }

  template <class T>
  void set(T& what, T to) {
    on_thread([&] { what = to; });
  }

  std::uint16_t port() const { return port_of(listener_); }

  std::atomic<bool> has_acted{false};
  std::atomic<int> accepted{0};
  std::atomic<int> round_trips{0};

  // Used by the proxy's thread only.
  sockaddr_in server;
  std::list<connection> connections;
  bool refuses = false;
  bool black_hole = false;
  bool keeps_answers = false;
  std::chrono::milliseconds delay{0};
  bytes_test is_request;
  std::pair<std::string, std::string> replaced;
  bytes_test is_complete;
  action what = action::cut_before;

 private:
  void wake() const {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake_.get(), &one, sizeof one));
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      run_tasks();
      for (auto& c : connections) serve(c);
      connections.remove_if([](const connection& c) { return c.dead; });
      wait();
      accept();
    }
  }

  void run_tasks() {
    std::uint64_t ignored = 0;
    static_cast<void>(!::read(wake_.get(), &ignored, sizeof ignored));
    std::vector<std::packaged_task<void()>> tasks;
    {
      const std::lock_guard lock{mutex_};
      tasks.swap(tasks_);
    }
    for (auto& task : tasks) task();
  }

  void accept() {
    for (;;) {
      file_descriptor client{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
      if (client.get() < 0) return;
      ++accepted;
      if (refuses) continue;
      send_at_once(client.get());
      connections.emplace_back().client = std::move(client);
    }
  }

  void serve(connection& c) {
    if (c.dead || is_black(c)) return;
    if (c.server.get() < 0) c.server = connect_to(server);
    if (c.server.get() < 0) return c.reset();
    read_all(c, c.client, c.up, [&](std::string bytes) { from_client(c, std::move(bytes)); });
    if (!c.dead && !c.black)
      read_all(c, c.server, c.down, [&](std::string bytes) { from_server(c, std::move(bytes)); });
    if (c.black) return;
    if (!c.dead && !c.held) write_due(c, c.up, c.server);
    if (!c.dead && !keeps_answers) write_due(c, c.down, c.client);
    if (c.swallows_answer && c.down.ended) cut_after_answer(c);
    if (c.up.passed_on && c.down.passed_on) c.dead = true;
  }

  bool is_black(const connection& c) const { return c.black || black_hole; }

  template <class Take>
  void read_all(connection& c, const file_descriptor& from, stream& into, Take take) {
    std::array<char, 65536> buffer{};
    while (!c.dead && !c.black && !into.ended) {
      const auto size = ::recv(from.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (size > 0) {
        take(std::string{buffer.data(), static_cast<std::size_t>(size)});
      } else if (size == 0) {
        into.ended = true;
      } else {
        if (errno != EAGAIN && errno != EINTR) broke(c, into);
        return;
      }
    }
  }

  /// Held data must reach the server although its client has disconnected.
  void broke(connection& c, stream& from) {
    if (c.held && &from == &c.up) {
      from.ended = true;
    } else {
      c.reset();
    }
  }

  void from_client(connection& c, std::string bytes) {
    if (c.server_spoke_last) c.request.clear();
    c.server_spoke_last = false;
    c.request += bytes;
    const auto& [word, by] = replaced;
    if (const auto at = bytes.find(word); !word.empty() && at != std::string::npos) bytes.replace(at, word.size(), by);
    if (!is_request || !is_request(c.request)) return push(c.up, std::move(bytes));
    is_request = nullptr;
    act(c, std::move(bytes));
  }

  // Sets the flag before the effect can be seen.
  void act(connection& c, std::string bytes) {
    has_acted = what != action::cut_after;
    switch (what) {
      case action::cut_before:
        c.reset();
        break;
      case action::cut_after:
        c.swallows_answer = true;
        push(c.up, std::move(bytes));
        break;
      case action::black_hole_before:
        c.black = true;
        break;
      case action::black_hole_after:
        c.up.pieces.push_back({steady::now(), std::move(bytes)});
        write_due(c, c.up, c.server);
        c.black = true;
        break;
      case action::hold:
        c.held = true;
        push(c.up, std::move(bytes));
        break;
    }
  }

  void from_server(connection& c, std::string bytes) {
    if (!c.server_spoke_last) ++round_trips;
    c.server_spoke_last = true;
    if (!c.swallows_answer) return push(c.down, std::move(bytes));
    c.answer += bytes;
    if (is_complete(c.answer)) cut_after_answer(c);
  }

  void cut_after_answer(connection& c) {
    c.swallows_answer = false;
    has_acted = true;
    c.reset();
  }

  void push(stream& s, std::string bytes) const { s.pieces.push_back({steady::now() + delay, std::move(bytes)}); }

  static void write_due(connection& c, stream& s, const file_descriptor& to) {
    while (!s.pieces.empty() && s.pieces.front().due <= steady::now()) {
      auto& bytes = s.pieces.front().bytes;
      const auto size = ::send(to.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (size < 0) return c.reset();
      bytes.erase(0, static_cast<std::size_t>(size));
      if (bytes.empty()) s.pieces.pop_front();
    }
    if (!s.ended || s.passed_on || !s.pieces.empty()) return;
    ::shutdown(to.get(), SHUT_WR);
    s.passed_on = true;
  }

  void wait() {
    std::vector<pollfd> watched{{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                                {.fd = listener_.get(), .events = POLLIN, .revents = 0}};
    auto next = steady::time_point::max();
    for (const auto& c : connections) {
      if (is_black(c)) continue;
      watch(c.client, c.up, c.down, keeps_answers, watched, next);
      watch(c.server, c.down, c.up, c.held, watched, next);
    }
    ::poll(watched.data(), watched.size(), timeout_until(next));
  }

  /// Skips a side with nothing to read or write: poll(2) would report its hangup all the time.
  static void watch(const file_descriptor& side, const stream& read, const stream& written, bool held,
                    std::vector<pollfd>& watched, steady::time_point& next) {
    int events = read.ended ? 0 : POLLIN;
    if (!held && !written.pieces.empty()) {
      const auto due = written.pieces.front().due;
      if (due <= steady::now())
        events |= POLLOUT;
      else
        next = std::min(next, due);
    }
    if (events != 0) watched.push_back({.fd = side.get(), .events = static_cast<short>(events), .revents = 0});
  }

  static int timeout_until(steady::time_point next) {
    if (next == steady::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - steady::now());
    return static_cast<int>(std::max<std::int64_t>(0, left.count()));
  }

  file_descriptor listener_;
  file_descriptor wake_;
  std::mutex mutex_;
  std::vector<std::packaged_task<void()>> tasks_;
  std::jthread thread_;
};

tcp_proxy::tcp_proxy(const std::string& host, std::uint16_t port) : loop_{std::make_unique<loop>(host, port)} {}

tcp_proxy::~tcp_proxy() = default;

std::uint16_t tcp_proxy::port() const noexcept { return loop_->port(); }

void tcp_proxy::lead_to(std::uint16_t port) {
  loop_->on_thread([this, port] { loop_->server.sin_port = htons(port); });
}

void tcp_proxy::cut() {
  loop_->on_thread([this] {
    for (auto& c : loop_->connections) c.reset();
  });
}

void tcp_proxy::refuse(bool on) { loop_->set(loop_->refuses, on); }

void tcp_proxy::black_hole(bool on) { loop_->set(loop_->black_hole, on); }

void tcp_proxy::keep_answers(bool on) { loop_->set(loop_->keeps_answers, on); }

void tcp_proxy::delay(std::chrono::milliseconds time) { loop_->set(loop_->delay, time); }

void tcp_proxy::on_request(bytes_test request, action what, bytes_test answer_is_complete) {
  loop_->on_thread([&] {
    loop_->is_request = std::move(request);
    loop_->is_complete = std::move(answer_is_complete);
    loop_->what = what;
    loop_->has_acted = false;
  });
}

void tcp_proxy::replace(std::string word, std::string by) {
  loop_->on_thread([&] { loop_->replaced = {std::move(word), std::move(by)}; });
}

bool tcp_proxy::has_acted() const noexcept { return loop_->has_acted; }

void tcp_proxy::let_go() {
  loop_->on_thread([this] {
    for (auto& c : loop_->connections) c.held = false;
  });
}

int tcp_proxy::connections() const noexcept { return loop_->accepted; }

int tcp_proxy::round_trips() const noexcept { return loop_->round_trips; }

tcp_proxy::bytes_test tcp_proxy::contains(std::string first, std::string second) {
  return [first = std::move(first), second = std::move(second)](std::string_view bytes) {
    return bytes.find(first) != std::string_view::npos && bytes.find(second) != std::string_view::npos;
  };
}

bool tcp_proxy::ends_with_ready_for_query(std::string_view answer) {
  using namespace std::string_view_literals;
  return answer.size() >= 6 && answer.substr(answer.size() - 6, 5) == "Z\0\0\0\5"sv;
}

// A packet begins with three bytes of length and a sequence number. An answer is one packet, OK or an error, or a count
// of columns, the columns and rows up to an end mark. The older form has a second, shorter mark between columns and
// rows.
bool tcp_proxy::ends_as_mysql_answers(std::string_view answer) {
  constexpr std::size_t header = 4;
  constexpr std::size_t size_of_mark = 5;
  constexpr std::size_t size_of_no_row = 255;
  int marks = 0;
  for (bool is_first = true; answer.size() > header; is_first = false) {
    const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(answer[i])}; };
    const auto size = byte(0) | byte(1) << 8U | byte(2) << 16U;
    if (answer.size() < header + size) return false;
    const auto kind = byte(header);
    answer.remove_prefix(header + size);
    if (kind == 0xFF || (is_first && kind == 0)) return answer.empty();
    if (kind != 0xFE || size >= size_of_no_row) continue;
    if (++marks == 2 || size > size_of_mark) return answer.empty();
  }
  return false;
}

}  // namespace rowlock::test
