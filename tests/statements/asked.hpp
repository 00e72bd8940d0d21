#pragma once

#include <rowlock/duration.hpp>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/wait.hpp"
#include "store/access.hpp"

namespace rowlock::test {

/// The arguments of one request for any statement: each statement takes the ones that it knows. The texts must outlive
/// the call.
struct asked {
  std::string_view name{};
  std::string_view acquisition{};
  std::string_view owner = "app:here:1:1";
  std::string_view attempt = "fedcba98765432100000000000000001";
  duration lease = std::chrono::hours{1};
  std::int64_t room = 1;
  std::int64_t version = 0;
  std::int64_t ticket = 0;
  std::int64_t turn = core::to_integer(core::ticket_number::last);
  std::int64_t expired = 0;

  static constexpr std::int64_t number = 5;

  std::vector<store::argument> arguments() const {
    using store::field;
    return {{field::name, name},
            {field::owner, owner},
            {field::thread, std::string_view{"1"}},
            {field::acquisition, acquisition},
            {field::attempt, attempt},
            {field::liveness, std::string_view{"file"}},
            {field::lease, lease.count()},
            {field::life, duration{std::chrono::hours{1}}.count()},
            {field::permits, std::int64_t{1}},
            {field::room, room},
            {field::number, number},
            {field::retention, duration{std::chrono::minutes{1}}.count()},
            {field::expired, expired},
            {field::ticket, ticket},
            {field::turn, turn},
            {field::patience, std::int64_t{0}},
            {field::version, version}};
  }
};

}  // namespace rowlock::test
