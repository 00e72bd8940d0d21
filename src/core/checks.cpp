#include "core/checks.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "core/lease.hpp"

namespace rowlock::inline v1::core {

using namespace std::chrono_literals;

std::string in_milliseconds(duration d) {
  const auto us = d.count() % 1000;
  return us == 0 ? std::to_string(d.count() / 1000) + " ms" : std::to_string(d.count()) + " us";
}

std::string in_whole_seconds(duration d) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(d).count()) + " s";
}

namespace {

void require(bool fine, const char* sentence) {
  if (!fine) throw error{errc::invalid_option, sentence};
}

/// `sentence()` makes the text: every call checks its options, and nearly all are valid.
template <std::invocable Sentence>
void require(bool fine, Sentence sentence) {
  if (!fine) throw error{errc::invalid_option, sentence()};
}

bool is_application(std::string_view text) {
  return !text.empty() && text.size() <= 60 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != ':'; });
}

bool is_prefix(std::string_view text) {
  const auto small = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  return !text.empty() && text.size() <= 32 && small(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return small(c) || (c >= '0' && c <= '9'); });
}

void check_limit(std::string_view option, duration value, duration least) {
  require(value >= least && value <= 1h, [&] {
    return std::string{option} + " is " + in_milliseconds(value) + "; it must be between " +
           (least == 1s ? "1 s" : "1 ms") + " and 1 h";
  });
}

void check_how_long(const lock_options& options) {
  require(options.at_least >= duration::zero() && options.at_least <= longest_lease,
          [&] { return "at_least is " + in_milliseconds(options.at_least) + "; it must be between 0 and 30 days"; });
  if (!options.hold_limit) return;
  const duration limit = *options.hold_limit;
  require(limit >= shortest_lease && limit <= longest_lease,
          [&] { return "hold_limit is " + in_milliseconds(limit) + "; it must be between 100 ms and 30 days"; });
  require(options.at_least <= limit, [&] {
    return "at_least is " + in_milliseconds(options.at_least) + " and hold_limit is " + in_milliseconds(limit) +
           "; hold_limit must not be shorter";
  });
}

void check_note(const std::string& note) {
  require(note.size() <= 1000,
          [&] { return "note has " + std::to_string(note.size()) + " bytes; it must have at most 1000"; });
  require(base::is_plain_text(note), "note must be UTF-8 without NUL");
}

}  // namespace

void check(const client_options& options) {
  require(is_application(options.application), "application must be 1 to 60 bytes of printable ASCII without ':'");
  require(options.connections >= 1, "connections is 0; it must be at least 1");
  require(options.held_transactions >= 1, "held_transactions is 0; it must be at least 1");
  require(options.async_threads >= 1 && options.async_threads <= 64, [&] {
    return "async_threads is " + std::to_string(options.async_threads) + "; it must be between 1 and 64";
  });
  check_limit("handover_limit", options.handover_limit, 1ms);
  check_limit("connect_timeout", options.connect_timeout, 1ms);
  check_limit("call_timeout", options.call_timeout, 1ms);
  check_limit("transaction_limit", options.transaction_limit, 1s);
  require(is_prefix(options.table_prefix), "table_prefix must match [a-z_][a-z0-9_]{0,31}");
}

void check(const lock_options& options) {
  check_lease(options.lease);
  if (options.strategy == strategy::for_update) {
    const auto require_default = [](bool is_default, const char* option) {
      require(is_default, [&] {
        return std::string{option} + " is for leases, and a lock by for_update has none; leave the option out";
      });
    };
    require_default(options.lease == lock_options{}.lease, "lease");
    require_default(options.renew == lock_options{}.renew, "renew");
    require_default(options.at_least == lock_options{}.at_least, "at_least");
    require_default(options.hold_limit == lock_options{}.hold_limit, "hold_limit");
  }
  check_how_long(options);
  check_note(options.note);
}

void check(const sharing& how, const lock_options& options) {
  if (how.is_exclusive()) return;
  require(how.permits > 0, [&] { return "permits is " + std::to_string(how.permits) + "; it must be at least 1"; });
  require(how.max_other_permits >= 0, "more permits are asked for than the semaphore has; ask for fewer");
  const auto refuse = [](bool fine, const char* sentence) {
    if (!fine) throw error{errc::unsupported, sentence};
  };
  refuse(options.strategy == strategy::unique_index,
         "a name is shared by unique_index only; the other strategies see it as taken. Leave the option strategy out");
  refuse(options.at_least == duration::zero(),
         "at_least is for exclusive locks: the release of a shared lock cannot be deferred. Leave the option out");
}

void check(const lock_in_options& options) { check_note(options.note); }

void check(const retry_options& options) {
  require(options.attempts >= 1,
          [&] { return "attempts is " + std::to_string(options.attempts) + "; it must be at least 1"; });
}

void check(const sweeper_options& options, const client_options& of) {
  require(options.every >= 1s && options.every <= 24h,
          [&] { return "every is " + in_milliseconds(options.every) + "; it must be between 1 s and 1 day"; });
  require(options.retention >= 1min && options.retention <= 24h * 365, [&] {
    return "retention is " + in_milliseconds(options.retention) + "; it must be between 1 min and 365 days";
  });
  const duration longest = std::max({of.connect_timeout, of.call_timeout, of.transaction_limit});
  require(options.retention > longest, [&] {
    return "retention is " + in_milliseconds(options.retention) +
           "; it must be longer than the client's time limits, of which the longest is " + in_milliseconds(longest);
  });
  require(options.batch >= 1 && options.batch <= 10'000,
          [&] { return "batch is " + std::to_string(options.batch) + "; it must be between 1 and 10000"; });
  require(options.kept_runs <= 1'000'000,
          [&] { return "kept_runs is " + std::to_string(options.kept_runs) + "; it must be at most 1000000"; });
  require(options.run_retention >= 24h && options.run_retention <= 24h * 3650, [&] {
    return "run_retention is " + in_milliseconds(options.run_retention) + "; it must be between 1 and 3650 days";
  });
}

void check_lease(duration lease) {
  require(lease >= shortest_lease && lease <= longest_lease,
          [&] { return "lease is " + in_milliseconds(lease) + "; it must be between 100 ms and 30 days"; });
}

void check_quarantine(duration length) {
  require(length >= 1s && length <= longest_lease,
          [&] { return "the quarantine is " + in_milliseconds(length) + "; it must be between 1 s and 30 days"; });
}

}  // namespace rowlock::inline v1::core
