#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "support/databases.hpp"

// Plays transcripts/*.txt, transcripts/wrong_inputs.md and docs/errors.md; transcripts/README.md says what is in them.

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

const fs::path transcripts{ROWLOCK_TRANSCRIPTS};
const std::string owner = "rowlock:[^ :]+:[0-9]+:[0-9a-z]+";

/// What varies: as it is written, and the regular expression that it stands for. The last ones are as pages have them.
const std::map<std::string, std::string> variables{
    {"<owner>", owner},
    {"<thread>", "call [0-9]+[.][0-9]+/[0-9]+"},
    {"<token>", "[0-9]{16}"},
    {"<number>", "[0-9]+"},
    {"<time>", "[0-9][0-9.a-z]*[smhd]"},
    {"<date>", "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z"},
    {"<text>", ".*"},
    {"rowlock:host-1:4711:x7k2", owner},
    {R"(in 0\.2 ms)", "in [0-9.]+ ms"},
    {R"(SQLite 3\.40\.1,)", "SQLite [0-9.]+,"},
    {R"(to server on '127\.0\.0\.1' \(115\))", R"(to (?:MySQL )?server on '127\.0\.0\.1(?::1)?' \([0-9]+\))"},
};

std::string with_all(std::string text, const std::map<std::string, std::string>& replaced) {
  for (const auto& [what, by] : replaced)
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
      text.replace(at, what.size(), by);
  return text;
}

std::string escaped(const std::string& text) {
  return std::regex_replace(text, std::regex{R"([.*+?^$(){}|\[\]\\])"}, R"(\$&)");
}

words lines_of(const std::string& text) {
  words out;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// --- what a file has -------------------------------------------------------------------------------------------------

struct step {
  int line = 0;
  std::string until{};
  int status = 0;
  std::string typed{};
  std::string background{};  ///< its name there
  words printed{};
  bool is_row = false;

  /// With another status and output, too.
  std::string as_written(int is_status, const words& is_printed) const {
    const auto cell = [](const std::string& text) { return "`" + with_all(text, {{"|", "\\|"}}) + "`"; };
    std::string out = until + (is_status == 0 ? "" : std::to_string(is_status)) + "$ " + typed;
    if (is_row)
      out = "| " + cell(typed) + " | " + std::to_string(is_status) + " | " + (is_printed.empty() ? "nothing" : "");
    for (const auto& each : is_printed)
      out += is_row ? (&each == &is_printed.front() ? "" : "<br>") + cell(each) : '\n' + each;
    return out + (is_row ? " |\n" : "\n");
  }
};

struct section {
  fs::path file{};
  int line = 0;
  std::string name{};
  std::string where{};
  std::vector<step> steps{};

  bool is(std::string_view word) const { return where.find(word) != std::string::npos; }
  bool is_on(std::string_view database) const {
    const bool is_sqlite = database == "sqlite";
    return is("on each database") || is(database) || (is_sqlite ? !is("on ") : is("on servers"));
  }
  /// A program that has to be installed; empty: none.
  std::string needed() const {
    std::smatch found;
    return std::regex_search(where, found, std::regex{"with ([a-z]+)"}) ? found[1].str() : "";
  }
};

/// Of a cell with several lines.
std::string text_of(const std::string& cell) { return with_all(cell, {{"<br>", "\n"}, {"\\|", "|"}, {"`", ""}}); }

std::vector<section> sections_of(const fs::path& file) {
  static const std::regex heading{R"(## ([^\[]*[^\[ ])(?: \[(.*)\])?)"};
  static const std::regex prompt{R"((until )?([0-9]*)\$ (.*?)(?: &([a-z]+))?)"};
  static const std::regex row{R"(\| `([^`]+)` \| ([0-9]+) \| (.*) \|)"};
  std::vector<section> out(1);
  int line = 0;
  for (const auto& each : lines_of(contents_of(file))) {
    std::smatch found;
    ++line;
    if (std::regex_match(each, found, heading))
      out.push_back({.file = file, .line = line, .name = found[1], .where = found[2]});
    else if (std::regex_match(each, found, prompt))
      out.back().steps.push_back({line, found[1], std::atoi(found[2].str().c_str()), found[3], found[4]});
    else if (std::regex_match(each, found, row))
      out.back().steps.push_back({line, "", std::stoi(found[2]), with_all(found[1], {{"\\|", "|"}}), "",
                                  found[3] == "nothing" ? words{} : lines_of(text_of(found[3])), true});
    else if (auto& steps = out.back().steps; !steps.empty() && !steps.back().is_row)
      steps.back().printed.push_back(each);
  }
  for (auto& each : out)
    for (auto& one : each.steps)
      while (!one.printed.empty() && one.printed.back().empty()) one.printed.pop_back();
  return out;
}

// --- whether that is printed -----------------------------------------------------------------------------------------

class matcher {
 public:
  void define(const std::string& written, const std::string& pattern) { known_[written] = pattern; }
  /// `token_a=…` for <token:a> and the like, for the shell.
  const words& environment() const { return environment_; }

  bool match(const words& expected, const words& actual) {
    return match(expected.begin(), expected.end(), actual.begin(), actual.end());
  }

  bool match_line(const std::string& expected, const std::string& actual) {
    static const std::regex named{"<([a-z]+):[a-z]+>"};
    auto pattern = with_all(std::regex_replace(escaped(expected), std::regex{" {2,}"}, " {2,}"), known_);
    const words names{std::sregex_token_iterator{pattern.begin(), pattern.end(), named}, {}};
    pattern = with_all(std::regex_replace(pattern, named, "(<$1>)"), variables);
    std::smatch found;
    if (!std::regex_match(actual, found, std::regex{pattern})) return false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      define(names[i], escaped(found[i + 1]));
      environment_.push_back(with_all(names[i], {{"<", ""}, {":", "_"}, {">", "="}}) + found[i + 1].str());
    }
    return true;
  }

 private:
  using place = words::const_iterator;

  static bool is_any(const std::string& line) { return line == "..." || line == "rowlock: ..."; }

  bool match(place expected, place expected_end, place actual, place actual_end) {
    if (expected == expected_end) return actual == actual_end;
    if (is_any(*expected))
      return match(expected + 1, expected_end, actual, actual_end) ||
             (actual != actual_end && match(expected, expected_end, actual + 1, actual_end));
    return actual != actual_end && match_line(*expected, *actual) &&
           match(expected + 1, expected_end, actual + 1, actual_end);
  }

  std::map<std::string, std::string> known_;
  words environment_;
};

// --- playing it ------------------------------------------------------------------------------------------------------

class transcript : public testing::Test {
 public:
  transcript(section what, const database_kind& kind) : what_{std::move(what)} {
    const auto file = (home_ / "locks.db").string();
    if (kind.name != "sqlite") server_ = kind.open();
    const auto url = server_ ? server_->url() : "sqlite:" + file;
    std::ofstream{tools_ / "sql"} << "#!/bin/sh\n{ test $# = 0 && cat || echo \"$*\"; } | "
                                  << (server_ ? server_->shell() : sqlite_database{file}.shell()) << '\n';
    fs::permissions(tools_ / "sql", fs::perms::owner_all);
    fs::create_symlink(command::path(), tools_ / "rowlock");
    environment_ = {"ROWLOCK_DATABASE=" + url,
                    "ROWLOCK_DATABASE_FILE",
                    "nowhere=" + std::regex_replace(url, std::regex{server_ ? "@[^/]*/" : "locks"},
                                                    server_ ? "@127.0.0.1:1/" : "none/x"),
                    "HOME=" + home_.path().string(),
                    "LC_ALL=C",
                    "PATH=" + tools_.path().string() + ":" + std::getenv("PATH")};
  }
  ~transcript() override { end_all_children(); }

  void TestBody() override {
    if (const auto needed = what_.needed(); !needed.empty())
      if (command::finish(typed("command -v " + needed)).end != exited(0))
        GTEST_SKIP() << "there is no " << needed << " here";
    if (!what_.is("without tables")) play({.line = what_.line, .typed = "rowlock migrate"});
    for (const auto& each : what_.steps)
      if (!play(each) && !each.is_row) return;
  }

 private:
  struct result {
    int status = 0;
    words out{};
    words err{};
  };

  bool play(const step& one) {
    if (!one.background.empty()) return start(one);
    result last;
    const auto is_as_written = [&] {
      last = one.typed.starts_with("wait ") ? end_of(one.typed.substr(5)) : read(command::finish(typed(one.typed)));
      return last.status == one.status && (match(one.printed, last) || (!one.until.empty() && one.printed.empty()));
    };
    return (one.until.empty() ? is_as_written() : eventually(is_as_written)) || is_corrected(one, last);
  }

  launch typed(const std::string& line) const {
    return {.words = {"sh", "-c", "cd && " + line}, .environment = environment_ + matcher_.environment()};
  }

  /// Its input does not end.
  bool start(const step& one) {
    const auto input = (tools_ / (one.background + ".input")).string();
    auto& started = background_[one.background];
    started = std::make_unique<program>(typed("mkfifo " + input + "; exec <>" + input + "; exec " + one.typed));
    const auto pid = std::to_string(started->pid());
    environment_.push_back(one.background + "=" + pid);
    matcher_.define("<owner:" + one.background + ">", "rowlock:[^ :]+:" + pid + ":[0-9a-z]+");
    return true;
  }

  result end_of(const std::string& name) const {
    auto& of = *background_.at(name);
    const auto end = of.wait();
    return read({.end = end, .out = of.out(), .err = of.err()});
  }

  result read(const outcome& ended) const {
    const auto end = ended.end.value_or(killed_by(0));
    const auto json = ordered_json::parse(ended.out, nullptr, false);
    const auto here = home_.path().string();
    return {
        .status = end.by_signal ? 128 + end.number : end.number,
        .out = lines_of(with_all(json.is_structured() ? json.dump(-1, ' ', true) : ended.out, {{here, "/home/me"}})),
        .err = lines_of(with_all(ended.err, {{here, "/home/me"}}))};
  }

  bool match(const words& expected, const result& actual) {
    words out;
    words err;
    for (const auto& each : expected) (each.starts_with("rowlock: ") ? err : out).push_back(each);
    return matcher_.match(out, actual.out) && matcher_.match(err, actual.err);
  }

  /// With ROWLOCK_WRITE_TRANSCRIPTS=1, in the file.
  bool is_corrected(const step& one, const result& last) {
    auto printed = last.out + last.err;
    for (auto& each : printed) {
      const auto same = std::find_if(one.printed.begin(), one.printed.end(), [&](const std::string& line) {
        return line != "..." && matcher_.match_line(line, each);
      });
      each = same != one.printed.end()
                 ? *same
                 : std::regex_replace(each, std::regex{owner}, one.is_row ? "rowlock:host-1:4711:x7k2" : "<owner>");
    }
    const auto expected = one.as_written(one.status, one.printed);
    const auto actual = one.as_written(last.status, printed);
    if (std::getenv("ROWLOCK_WRITE_TRANSCRIPTS") == nullptr) {
      ADD_FAILURE_AT(what_.file.c_str(), one.line) << expected << "It is:\n" << actual;
      return false;
    }
    auto text = contents_of(what_.file);
    auto at = text.find("## " + what_.name);
    for (const step* each = what_.steps.data(); each <= &one; ++each)
      if (const auto next = text.find((each->is_row ? "| `" : "$ ") + each->typed, at + 1); next != std::string::npos)
        at = next;
    text.replace(text.rfind('\n', at) + 1, expected.size(), actual);
    std::ofstream{what_.file} << text;
    return true;
  }

  section what_;
  temp_folder home_;
  temp_folder tools_;
  std::unique_ptr<database> server_;
  words environment_;
  matcher matcher_;
  std::map<std::string, std::unique_ptr<program>> background_;
};

void add(section what, const database_kind& kind) {
  auto name = std::regex_replace(what.name, std::regex{"[^A-Za-z0-9]+"}, "_");
  if (kind.name != "sqlite") name += "_" + std::string{kind.name};
  testing::RegisterTest(("transcript_" + what.file.stem().string()).c_str(), name.c_str(), nullptr, nullptr,
                        what.file.c_str(), what.line, [what, kind] {
                          return new transcript{what, kind};
                        });
}

}  // namespace

void add_transcripts() {
  std::vector<fs::path> files;
  if (databases().size() == 3)  // they have URLs of all
    files = {transcripts / "wrong_inputs.md", transcripts / "../../../docs/errors.md"};
  for (const auto& entry : fs::directory_iterator{transcripts})
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  for (const auto& file : files) {
    auto all = sections_of(file);
    const auto before =
        file.extension() == ".md" ? sections_of(transcripts / "before_pages.txt").front().steps : all.front().steps;
    for (auto each = all.begin() + 1; each != all.end(); ++each) {
      each->steps = before + each->steps;
      for (const auto& kind : databases())
        if (each->is_on(kind.name)) add(*each, kind);
    }
  }
}

}  // namespace rowlock::test
