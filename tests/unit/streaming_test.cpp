// Before any header of streams: what is declared must be enough.
#include <rowlock/diagnosis.hpp>
#include <rowlock/error.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/loss_reason.hpp>
#include <rowlock/options.hpp>
#include <rowlock/schema_status.hpp>
#include <rowlock/strategy.hpp>

#include <concepts>
#include <type_traits>

namespace rowlock::test {
namespace {

// Convertible to lock_name, but no name: the operator must not make it streamable, here where it could be found.
struct text_like {
  operator std::string_view() const { return "text"; }  // NOLINT(google-explicit-constructor): as users' types have it
};
template <class T>
concept streamable = requires(std::ostream& to, const T& what) {
  to << what;
};

}  // namespace
}  // namespace rowlock::test

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>

namespace rowlock::test {
namespace {

static_assert(std::is_convertible_v<text_like, lock_name> && !streamable<text_like>);

template <class T>
std::string written(const T& what) {
  std::ostringstream out;
  out << what;
  return out.str();
}

struct grouping : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(streaming_test, writes_a_name_as_it_is) {
  EXPECT_EQ(written(lock_name{"orders/42"}), "orders/42");
  EXPECT_EQ(written(lock_name{"schl\xc3\xbcssel 1"}), "schl\xc3\xbcssel 1");
  EXPECT_EQ(written(lock_name{"a\nb"}), "a\nb");
}

TEST(streaming_test, pads_a_name_as_a_string_view) {
  const lock_name name{"job"};
  const std::string_view text = name.view();
  std::ostringstream of_name, of_text;
  of_name << std::setfill('*') << std::setw(6) << name << '|' << std::left << std::setw(6) << name << '|' << name;
  of_text << std::setfill('*') << std::setw(6) << text << '|' << std::left << std::setw(6) << text << '|' << text;
  EXPECT_EQ(of_name.str(), "***job|job***|job") << "the width is for one output";
  EXPECT_EQ(of_name.str(), of_text.str());
}

TEST(streaming_test, writes_no_name_to_a_stream_that_has_failed) {
  std::ostringstream out;
  out.setstate(std::ios::failbit);
  out << lock_name{"job"} << fencing_token{7};
  EXPECT_EQ(out.str(), "");
}

TEST(streaming_test, writes_a_token_as_its_number) {
  EXPECT_EQ(written(fencing_token{}), "0");
  EXPECT_EQ(written(fencing_token{1'700'000'000'000'000}), "1700000000000000");
  EXPECT_EQ(written(fencing_token{std::numeric_limits<std::int64_t>::max()}), "9223372036854775807");
}

TEST(streaming_test, heeds_flags_and_locale_with_a_token) {
  std::ostringstream out;
  out << std::setw(4) << fencing_token{7} << '|' << std::hex << fencing_token{255} << std::dec << '|';
  out.imbue(std::locale{std::locale::classic(), new grouping});
  out << fencing_token{1'234'567};
  EXPECT_EQ(out.str(), "   7|ff|1.234.567");
}

/// Of the enumerators in their order.
template <class Enum>
void expect_names(std::initializer_list<std::string_view> names) {
  int number = 0;
  for (const auto name : names) {
    const auto each = static_cast<Enum>(number++);
    EXPECT_EQ(to_string(each), name);
    EXPECT_EQ(written(each), name);
  }
}

TEST(streaming_test, writes_each_enumerator_by_its_name) {
  expect_names<strategy>({"unique_index", "for_update", "version_cas"});
  expect_names<loss_reason>({"none", "expired", "taken_over", "forced", "row_vanished", "unreachable", "session_ended",
                             "hold_limit", "client_closed", "forgotten", "forked"});
  expect_names<migration_state>({"pending", "applied", "by_hand", "edited", "unknown"});
  expect_names<fairness>({"unfair", "fifo"});
  expect_names<condition>({"ok", "advice", "failed", "unknown"});
  EXPECT_EQ(written(errc::lock_lost), "lock_lost");
  std::ostringstream padded;
  padded << std::setw(6) << fairness::fifo << '|';
  EXPECT_EQ(padded.str(), "  fifo|");
}

}  // namespace
}  // namespace rowlock::test
