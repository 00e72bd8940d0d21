#include "subjects/redis_connection.hpp"

#include <sys/time.h>

#include <cstddef>
#include <stdexcept>

namespace rowlock::test {

namespace {

constexpr timeval limit{.tv_sec = 2, .tv_usec = 0};

}  // namespace

redis_connection::redis_connection(const server_address& to)
    : context_{redisConnectWithTimeout(to.host.c_str(), to.port.value(), limit), redisFree} {
  if (!context_ || context_->err != 0) throw std::runtime_error{"Redis cannot be reached"};
  redisSetTimeout(context_.get(), limit);
}

std::string redis_connection::run(const std::vector<std::string_view>& words) const {
  std::vector<const char*> texts;
  std::vector<std::size_t> lengths;
  for (const auto& each : words) {
    texts.push_back(each.data());
    lengths.push_back(each.size());
  }
  const std::unique_ptr<redisReply, void (*)(void*)> got{
      static_cast<redisReply*>(
          redisCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), lengths.data())),
      freeReplyObject};
  if (!got || got->type == REDIS_REPLY_ERROR) throw std::runtime_error{"Redis does not answer, or with an error"};
  if (got->type == REDIS_REPLY_INTEGER) return std::to_string(got->integer);
  return got->type == REDIS_REPLY_NIL ? std::string{} : std::string{got->str, got->len};
}

}  // namespace rowlock::test
