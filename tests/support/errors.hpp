#pragma once

#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <exception>
#include <optional>
#include <ostream>
#include <string>

namespace rowlock::test {

/// The rowlock::error that a call throws; nullopt where it throws nothing. Anything else it throws passes through.
template <class Call>
std::optional<error> error_of(Call&& call) {
  try {
    static_cast<void>(call());
  } catch (const error& e) {
    return e;
  }
  return std::nullopt;
}

/// Whether a call answers with something that counts as true; not, where it throws a rowlock::error.
template <class Call>
bool succeeds(Call&& call) {
  bool out = false;
  error_of([&] { return out = static_cast<bool>(call()); });
  return out;
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

/// Whether the sentence of an error says this.
inline bool mentions(const std::optional<error>& e, const std::string& text) {
  return e.has_value() && std::string{e->what()}.find(text) != std::string::npos;
}

}  // namespace rowlock::test
