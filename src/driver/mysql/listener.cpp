#include "driver/mysql/listener.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/boot_clock.hpp"
#include "core/error_detail.hpp"
#include "driver/mysql/errors.hpp"

namespace rowlock::inline v1::driver {

namespace {

constexpr std::size_t length_of_id = 16;
constexpr const char* beginning_to_listen = "beginning to listen";

bool is_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

std::optional<std::string> wake_up_lock(std::string_view owner) {
  if (owner.size() < length_of_id) return std::nullopt;
  const auto id = owner.substr(owner.size() - length_of_id);
  if (!std::all_of(id.begin(), id.end(), is_digit)) return std::nullopt;
  return "rowlock_" + std::string{id};
}

mysql_listener::mysql_listener(const connect_another& connect, const std::string& owner, duration call_timeout,
                               const limits& until)
    : call_timeout_{call_timeout}, session_{connect()} {
  const auto take = [&] {
    return session_->ask("SELECT GET_LOCK('" + wake_up_lock(owner).value() + "', 0)", beginning_to_listen, until);
  };
  if (session_->kind() == mysql_kind::mysql) {
    session_->ask("SET SESSION max_execution_time = 0", beginning_to_listen, until);
  } else {
    session_->ask("SET SESSION max_statement_time = 0", beginning_to_listen, until);
    awaited_ = connect();
    awaited_->ask("SET SESSION wait_timeout = 28800", beginning_to_listen, until);
  }
  if (text(take().at(0).at(0)) != "1" || (awaited_ && awaited_->mark().empty()))
    throw detail::error_access::make(
        errc::connection_failed,
        "another session holds the user-level lock of this client, as its last listener may for a while",
        {.retryable = true, .connection_unusable = true});
}

std::string mysql_listener::sleep_of(duration longest) const {
  const auto seconds = std::to_string(std::chrono::ceil<std::chrono::milliseconds>(longest).count()) + " / 1000";
  return awaited_ ? "SELECT GET_LOCK('" + awaited_->mark() + "', " + seconds + ")" : "SELECT SLEEP(" + seconds + ")";
}

std::vector<std::string> mysql_listener::wait(base::instant until, const std::stop_token& stop) {
  const auto now = base::now();
  const auto longest = std::max<duration>(until - now, duration::zero());
  const bool is_woken = sleep(longest, {.deadline = base::later(now, longest + call_timeout_), .stop = stop});
  return is_woken ? std::vector<std::string>{std::string{}} : std::vector<std::string>{};
}

// 0: the time is over. If it is woken, SLEEP answers 1, and GET_LOCK answers NULL or an error. GET_LOCK answers 1 if
// the other connection has ended.
bool mysql_listener::sleep(duration longest, const limits& until) try {
  const auto answer = text(session_->ask(sleep_of(longest), "waiting to be woken", until).at(0).at(0));
  if (answer == "1" && awaited_)
    throw detail::error_access::make(errc::connection_failed, "the connection that a listener waits for was lost",
                                     {.retryable = true, .connection_unusable = true});
  return answer != "0";
} catch (const error& e) {
  if (e.native_code() != mysql_code::interrupted) throw;
  return true;
}

}  // namespace rowlock::inline v1::driver
