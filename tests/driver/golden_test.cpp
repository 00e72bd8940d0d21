#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/backend.hpp"
#include "driver/passages.hpp"
#include "sql/loader.hpp"
#include "sql/sheet.hpp"
#ifdef ROWLOCK_WITH_MYSQL
#include "driver/mysql/values.hpp"
#endif

// Every text of SQL about our tables, as a server or SQLite gets it, is in golden/: whoever changes how texts are made
// sees that they are the same, and whoever changes one sees all that changed with it. With ROWLOCK_WRITE_GOLDEN set
// the files are written anew. The order of the texts does not count, and a text that two verbs send is there once.

namespace rowlock::test {
namespace {

using sheets::verb;

constexpr std::string_view callers = "the caller's transaction";
constexpr std::string_view guarded_callers = "the caller's transaction guarded";

/// The texts, in the order in which they come, and when each is sent.
class sent_texts {
 public:
  void add(std::string_view when, const std::string& text) {
    const auto [at, is_new] = when_.try_emplace(text);
    if (is_new) order_.push_back(text);
    if (!at->second.ends_with(when)) at->second.append(at->second.empty() ? "" : ", ").append(when);
  }
  void add(std::string_view when, const std::optional<std::string>& text) {
    if (text && !text->empty()) add(when, *text);
  }

  const std::map<std::string, std::string>& by_text() const { return when_; }
  std::string file() const {
    std::string out;
    for (const auto& text : order_) out.append("--- ").append(when_.at(text)).append("\n").append(text).append("\n\n");
    return out;
  }

  static sent_texts of_file(const std::string& content) {
    constexpr std::string_view head = "--- ";
    sent_texts out;
    for (std::size_t at = 0; at < content.size();) {
      const auto line = content.find('\n', at);
      const auto next = std::min(content.find("\n\n--- ", line), content.size() - 2);
      out.add(std::string_view{content}.substr(at + head.size(), line - at - head.size()),
              content.substr(line + 1, next - line - 1));
      at = next + 2;
    }
    return out;
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::string> when_;
};

template <class Add>
void add_step(sheets::step s, Add add) {
  sheets::change_texts(s, add);
}

template <class Add>
void add_table(const sheets::sheet& sql, Add add) {
  for (std::size_t i = 0; i < sheets::sheet::size; ++i) add_step(sql[static_cast<verb>(i)], add);
}

void add_enlisted(sent_texts& to, const sheets::enlisted_texts& in, bool is_guarded = false) {
  for (const auto* text : {&in.take_vacant, &in.take, &in.await, &in.change, &in.pin, &in.isolation, &in.prolong,
                           &in.see, &in.installation, &in.set})
    if (!text->empty()) to.add(is_guarded ? guarded_callers : callers, *text);
}

sheets::sheet sheet_of(const char* scheme, std::string_view prefix, const driver::open_options& with = {}) {
  return driver::backend_for(scheme).sheet(prefix, with);
}

sent_texts sqlite_texts(std::string_view prefix) {
  sent_texts out;
  add_table(sheet_of("sqlite", prefix), [&](const std::string& text) { out.add("the client", text); });
  add_enlisted(out, sheets::sqlite_enlisted(prefix, "main"));
  return out;
}

#ifdef ROWLOCK_WITH_POSTGRESQL
const std::pair<const char*, driver::open_options> postgresql_options[] = {
    {"plain", {}},
    {"durable_release", {.durable_release = true}},
    {"transaction_pooling", {.transaction_pooling = true}},
    {"both", {.transaction_pooling = true, .durable_release = true}},
    {"guarded", {.is_guarded = true}},
    {"relaxed", {.is_guarded = true, .may_relax = true}}};

sent_texts postgresql_texts(std::string_view prefix) {
  sent_texts out;
  for (const auto& [when, with] : postgresql_options) {
    const auto sql = sheet_of("postgresql", prefix, with);
    const auto add = [&, when = when](const std::string& text) {
      out.add(when, sheets::replaced(text, sheets::place_mark, "place."));
    };
    add_table(sql, add);
    for (std::size_t i = 0; i < sheets::sheet::size; ++i)
      if (const auto silent = sheets::postgresql_without_notices(sql[static_cast<verb>(i)])) add_step(*silent, add);
  }
  for (const bool is_guarded : {false, true})
    add_enlisted(out, sheets::postgresql_enlisted(prefix, "place.", is_guarded), is_guarded);
  return out;
}
#endif

#ifdef ROWLOCK_WITH_MYSQL
sent_texts mysql_texts(std::string_view prefix) {
  sent_texts out;
  for (const bool is_guarded : {false, true}) {
    const auto sql = sheet_of("mysql", prefix, {.is_guarded = is_guarded});
    for (const auto kind : {driver::mysql_kind::mysql, driver::mysql_kind::mariadb}) {
      const auto* const when = kind == driver::mysql_kind::mysql ? is_guarded ? "MySQL guarded" : "MySQL"
                               : is_guarded                      ? "MariaDB guarded"
                                                                 : "MariaDB";
      for (std::size_t i = 0; i < sheets::sheet::size; ++i) {
        auto step = sql[static_cast<verb>(i)];
        if (kind == driver::mysql_kind::mysql) step.making = step.batch_making = std::nullopt;  // for MariaDB
        add_step(step, [&](const std::string& text) { out.add(when, driver::for_server(text, kind, "place.").sql); });
      }
    }
    add_enlisted(out, sheets::mysql_enlisted(prefix, "place.", is_guarded), is_guarded);
  }
  return out;
}
#endif

std::string read(const std::string& path) {
  std::ifstream in{path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::string golden_file(const std::string& database) { return ROWLOCK_GOLDEN_FOLDER "/" + database + ".sql"; }

void expect_golden(const char* database, sent_texts (*texts)(std::string_view prefix)) {
  const auto path = golden_file(database);
  const auto sent = texts("rowlock_");
  if (std::getenv("ROWLOCK_WRITE_GOLDEN") != nullptr) std::ofstream{path} << sent.file();
  const auto golden = sent_texts::of_file(read(path));
  for (const auto& [text, when] : sent.by_text()) {
    const auto at = golden.by_text().find(text);
    if (at == golden.by_text().end()) {
      ADD_FAILURE() << "sent, and not in " << path << " (" << when << "):\n" << text;
    } else {
      EXPECT_EQ(when, at->second) << text;
    }
  }
  for (const auto& [text, when] : golden.by_text())
    EXPECT_TRUE(sent.by_text().contains(text)) << "in " << path << ", and not sent (" << when << "):\n" << text;

  sent_texts elsewhere;
  for (const auto& [text, when] : golden.by_text()) elsewhere.add(when, sheets::with_prefix(text, "other_"));
  EXPECT_TRUE(texts("other_").by_text() == elsewhere.by_text()) << "a table prefix changes more than names";
}

/// What `rowlock sql` prints: a statement is what is between two comments.
std::set<std::string> printed_texts(const std::string& url, const client_options& with) {
  std::set<std::string> out;
  for (const auto& each : driver::passages_for(url, with)) {
    std::istringstream lines{each.text + "--"};
    std::string statement;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("--")) {
        statement.append(line).push_back('\n');
      } else if (!statement.empty()) {
        EXPECT_TRUE(statement.ends_with(";\n")) << statement;
        out.insert(statement.substr(0, statement.size() - 2));
        statement.clear();
      }
    }
  }
  return out;
}

std::string in_one_line(const std::string& text) { return std::regex_replace(text, std::regex{"\n *"}, " "); }

/// `to_printed`: how a golden text is printed; empty: it is not.
void expect_printed(const std::string& url, client_options with, const char* golden, std::string_view when,
                    const std::function<std::string(const std::string& text)>& to_printed) {
  with.table_prefix = "other_";
  const auto known = sent_texts::of_file(read(golden_file(golden)));
  std::set<std::string> sent;
  for (const auto& [text, times] : known.by_text()) {
    const auto all_times = sheets::split(times);
    const auto is_sent = [&](std::string_view in) { return std::count(all_times.begin(), all_times.end(), in) > 0; };
    if (!is_sent(when) && !is_sent(callers)) continue;
    auto out = sheets::with_prefix(sheets::replaced(to_printed(text), "place.", ""), "other_");
    out.erase(0, out.find_first_not_of('\n'));
    if (!out.empty()) sent.insert(std::move(out));
  }
  EXPECT_GT(sent.size(), 50U) << url;
  auto printed = printed_texts(url, with);
  if (url == "sqlite:") {
    std::set<std::string> joined;
    for (const auto& each : printed) joined.insert(in_one_line(each));
    printed = std::move(joined);
  }
  EXPECT_EQ(printed, sent) << url << ", " << when;
}

TEST(golden, texts_for_sqlite_are_printed) {
  expect_printed("sqlite:", {}, "sqlite", "the client", [](const std::string& text) { return text; });
}

#ifdef ROWLOCK_WITH_POSTGRESQL
TEST(golden, texts_for_postgresql_are_printed) {
  for (const auto& [when, with] : postgresql_options) {
    if (with.is_guarded) continue;
    expect_printed(
        "postgresql:", {.transaction_pooling = with.transaction_pooling, .durable_release = with.durable_release},
        "postgresql", when, [](const std::string& text) {
          return text.find("nullif('', '') || concat(") == std::string::npos ? text : "";  // sent without notices
        });
  }
}
#endif

#ifdef ROWLOCK_WITH_MYSQL
TEST(golden, texts_for_mysql_and_mariadb_are_printed) {
  const auto expect = [](const char* url, const char* when, driver::mysql_kind kind) {
    expect_printed(url, {}, "mysql", when,
                   [kind](const std::string& text) { return driver::for_server(text, kind).sql; });
  };
  expect("mysql://host/database", "MySQL", driver::mysql_kind::mysql);
  expect("mariadb:", "MariaDB", driver::mysql_kind::mariadb);
}
#endif

TEST(golden, texts_for_sqlite_are_known) { expect_golden("sqlite", sqlite_texts); }
#ifdef ROWLOCK_WITH_POSTGRESQL
TEST(golden, texts_for_postgresql_are_known) { expect_golden("postgresql", postgresql_texts); }
#endif
#ifdef ROWLOCK_WITH_MYSQL
TEST(golden, texts_for_mysql_and_mariadb_are_known) { expect_golden("mysql", mysql_texts); }
#endif

}  // namespace
}  // namespace rowlock::test
