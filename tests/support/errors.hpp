#pragma once

#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <exception>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace rowlock::test {

/// The rowlock::error that a call throws; nullopt if it throws nothing. Other exceptions pass through.
template <class Call>
std::optional<error> error_of(Call&& call) {
  try {
    static_cast<void>(call());
  } catch (const error& e) {
    return e;
  }
  return std::nullopt;
}

/// Whether a call returns a value that converts to true; false if it throws a rowlock::error.
template <class Call>
bool succeeds(Call&& call) {
  bool out = false;
  error_of([&] { return out = static_cast<bool>(call()); });
  return out;
}

/// Whether a timed try is answered with no. On a slow machine the time may pass without any answer, which is an error:
/// then it is made again.
template <class Call>
testing::AssertionResult is_refused(Call&& call) {
  constexpr int tries = 5;
  std::optional<error> unanswered;
  for (int i = 0; i < tries; ++i) {
    bool has_it = false;
    unanswered = error_of([&] { has_it = static_cast<bool>(call()); });
    if (!unanswered) return has_it ? testing::AssertionFailure() << "granted" : testing::AssertionSuccess();
    if (unanswered->code() != errc::call_timed_out) break;
  }
  return testing::AssertionFailure() << unanswered->what();
}

/// EXPECT_TRUE(throws(errc::not_held, [&] { held.release(); }));
template <class Call>
testing::AssertionResult throws(errc expected, Call&& call) {
  const auto wanted = make_error_code(expected).message();
  try {
    call();
  } catch (const error& e) {
    if (e.code() == expected) return testing::AssertionSuccess() << "it said: " << e.what();
    return testing::AssertionFailure() << "expected '" << wanted << "', got '" << e.code().message()
                                       << "': " << e.what();
  } catch (const std::exception& e) {
    return testing::AssertionFailure() << "expected '" << wanted << "', got another exception: " << e.what();
  }
  return testing::AssertionFailure() << "expected '" << wanted << "', but nothing was thrown";
}

/// Whether the error's message contains this.
inline bool mentions(const std::optional<error>& e, const std::string& text) {
  return e.has_value() && std::string{e->what()}.find(text) != std::string::npos;
}

/// Expected properties of an error besides its code; an omitted one is not checked.
struct error_traits {
  std::optional<bool> is_retryable{};
  std::optional<bool> outcome_is_unknown{};
  std::optional<bool> connection_is_unusable{};
  std::vector<std::string> says{};
};

/// ASSERT_TRUE(is_error(e, errc::unsupported, {.is_retryable = false, .says = {"version 12"}}));
inline testing::AssertionResult is_error(const std::optional<error>& e, errc expected, const error_traits& with = {}) {
  if (!e) return testing::AssertionFailure() << "nothing was thrown";
  auto out = testing::AssertionFailure() << "it said: " << e->what();
  bool is_wrong = e->code() != expected;
  if (is_wrong) out << "; code: " << e->code().message();
  const auto compare = [&](const char* what, const std::optional<bool>& wanted, bool found) {
    if (!wanted || *wanted == found) return;
    is_wrong = true;
    out << "; " << what << ": " << found;
  };
  compare("is_retryable", with.is_retryable, e->is_retryable());
  compare("outcome_is_unknown", with.outcome_is_unknown, e->outcome_is_unknown());
  compare("connection_is_unusable", with.connection_is_unusable, e->connection_is_unusable());
  for (const auto& text : with.says) compare(text.c_str(), true, mentions(e, text));
  return is_wrong ? out : testing::AssertionSuccess();
}

}  // namespace rowlock::test
