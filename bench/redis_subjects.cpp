#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <sys/time.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "subjects.hpp"
#include "testkit/url.hpp"

namespace bench {

namespace {

constexpr std::string_view release_script =
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
constexpr std::string_view lease_ms = "30000";

struct freed {
  void operator()(redisContext* of) const noexcept { redisFree(of); }
  void operator()(redisReply* of) const noexcept { freeReplyObject(of); }
};
using reply = std::unique_ptr<redisReply, freed>;

std::string_view text_of(const reply& from) { return {from->str, static_cast<std::size_t>(from->len)}; }

class redis_connection {
 public:
  explicit redis_connection(const std::string& url) {
    const auto address = test::parse_address(url);
    context_.reset(
        redisConnectWithTimeout(address.host.c_str(), address.port.value_or(6379), timeval{.tv_sec = 5, .tv_usec = 0}));
    check_connection();
    if (!address.password.empty()) (void)run(std::array<std::string_view, 2>{"AUTH", address.password});
  }

  template <std::size_t Size>
  reply run(const std::array<std::string_view, Size>& words) {
    std::array<const char*, Size> texts{};
    std::array<std::size_t, Size> lengths{};
    for (std::size_t at = 0; at < Size; ++at) {
      texts[at] = words[at].data();
      lengths[at] = words[at].size();
    }
    ++commands_;
    reply got{static_cast<redisReply*>(
        redisCommandArgv(context_.get(), static_cast<int>(Size), texts.data(), lengths.data()))};
    if (!got) check_connection();
    if (!got || got->type == REDIS_REPLY_ERROR)
      throw std::runtime_error{fmt::format("Redis: {}: {}", words[0], got ? text_of(got) : "no reply")};
    return got;
  }

  long long commands() const noexcept { return commands_; }

 private:
  void check_connection() const {
    if (!context_) throw std::runtime_error{"Redis: no memory for a connection"};
    if (context_->err != 0) throw std::runtime_error{fmt::format("Redis: {}", &context_->errstr[0])};
  }

  std::unique_ptr<redisContext, freed> context_;
  long long commands_ = 0;
};

class redis_lane final : public lane {
 public:
  redis_lane(const std::string& url, std::string key) : connection_{url}, key_{std::move(key)} {
    const auto loaded = connection_.run(std::array<std::string_view, 3>{"SCRIPT", "LOAD", release_script});
    script_ = text_of(loaded);
  }

  void cycle() override {
    token_.draw();
    take();
    let_go();
  }
  long long statements() override { return connection_.commands(); }

 private:
  void take() {
    const auto set = connection_.run(std::array<std::string_view, 6>{"SET", key_, token_.text(), "NX", "PX", lease_ms});
    if (set->type != REDIS_REPLY_STATUS) throw std::runtime_error{"Redis did not grant a lock that nobody has"};
  }

  void let_go() {
    const auto removed = connection_.run(std::array<std::string_view, 5>{"EVALSHA", script_, "1", key_, token_.text()});
    if (removed->integer != 1) throw std::runtime_error{"Redis had lost a lock"};
  }

  redis_connection connection_;
  std::string key_;
  std::string script_;
  acquisition token_;
};

class redis_locks final : public subject {
 public:
  explicit redis_locks(std::string url) : url_{std::move(url)} {}

  std::unique_ptr<lane> open_lane(std::size_t number) override {
    return std::make_unique<redis_lane>(url_, fmt::format("bench/{:08x}/{}", space_, number));
  }

 private:
  std::string url_;
  unsigned space_ = std::random_device{}();  // so that two benchmarks on one server do not meet
};

census count_commands(const std::function<std::unique_ptr<subject>()>& make, std::size_t threads, std::size_t cycles) {
  return {.connections = threads, .statements_per_cycle = count_on_own_connections(make, threads, cycles)};
}

void add_server(std::vector<named_subject>& to, const char* name, const char* variable) {
  const char* const url = std::getenv(variable);
  if (url == nullptr || *url == '\0') return;
  to.push_back({.name = name,
                .make = [at = std::string{url}](const auto& /*folder*/) { return std::make_unique<redis_locks>(at); },
                .count = count_commands});
}

}  // namespace

std::vector<named_subject> redis_subjects() {
  std::vector<named_subject> all;
  add_server(all, "Redis SET NX PX", "ROWLOCK_BENCH_REDIS_URL");
  add_server(all, "Redis SET NX PX, appendfsync always", "ROWLOCK_BENCH_DURABLE_REDIS_URL");
  return all;
}

}  // namespace bench
