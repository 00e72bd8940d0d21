#include "command/help.hpp"

#include <sstream>
#include <string_view>
#include <utility>

#include "command/pages.hpp"

namespace rowlock::command {

namespace {

constexpr std::size_t width = 80;
constexpr std::size_t indent = 7;

/// Fills words into lines behind an indent.
class paragraph {
 public:
  paragraph(std::ostream& to, std::size_t margin) : to_{to}, margin_{margin} {}
  void add(std::string_view word) {
    if (column_ != 0 && column_ + 1 + word.size() > width) end();
    to_ << std::string(column_ == 0 ? margin_ : 1, ' ') << word;
    column_ += (column_ == 0 ? margin_ : 1) + word.size();
  }
  void end() {
    if (column_ != 0) to_ << '\n';
    column_ = 0;
  }

 private:
  std::ostream& to_;
  std::size_t margin_;
  std::size_t column_ = 0;
};

void fill(std::ostream& out, std::string_view text, std::size_t margin) {
  paragraph lines{out, margin};
  std::istringstream words{std::string{text}};
  for (std::string word; words >> word;) lines.add(word);
  lines.end();
}

// An empty line parts paragraphs; a line that begins with a space stands as it is.
void write(std::ostream& out, std::string_view text, std::size_t margin) {
  std::istringstream lines{std::string{text}};
  std::string so_far;
  const auto flush = [&] { fill(out, std::exchange(so_far, {}), margin); };
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != ' ') {
      so_far += line + ' ';
      continue;
    }
    flush();
    out << (line.empty() ? "" : std::string(margin - 1, ' ') + line) << '\n';
  }
  flush();
}

void write(std::ostream& out, const page::section& s) {
  out << '\n' << s.title << '\n';
  write(out, s.text, indent);
}

void write_options(std::ostream& out, const CLI::App& app, bool with_help) {
  for (const CLI::Option* o : app.get_options([](const CLI::Option* each) { return each->nonpositional(); })) {
    if (o == app.get_help_ptr() && !with_help) continue;
    const bool has_value = !o->get_type_name().empty();
    const std::string value = has_value ? ' ' + o->get_type_name() : std::string{};
    out << '\n' << std::string(indent, ' ') << o->get_name(false, true) << value << '\n';
    fill(out, o->get_description(), 2 * indent);
  }
}

void write_subcommands(std::ostream& out, const CLI::App& app) {
  const auto all = app.get_subcommands([](const CLI::App*) { return true; });
  if (all.empty()) return;
  out << "\nSUBCOMMANDS\n";
  for (const CLI::App* sub : all) {
    out << std::string(indent, ' ') << page_of(sub->get_name()).synopsis << '\n';
    fill(out, sub->get_description(), 2 * indent);
  }
}

}  // namespace

std::string manual_formatter::make_help(const CLI::App* app, std::string /*name*/, CLI::AppFormatMode /*mode*/) const {
  const page& about = page_of(app->get_name());
  const bool is_whole = app->get_parent() == nullptr;
  std::ostringstream out;
  out << "NAME\n";
  fill(out, (is_whole ? "" : "rowlock-") + app->get_name() + " - " + std::string{about.summary}, indent);
  out << "\nSYNOPSIS\n" << std::string(indent, ' ') << "rowlock " << (is_whole ? "[OPTION]... " : "");
  out << about.synopsis << '\n';
  for (const auto& s : about.before_options) write(out, s);
  write_subcommands(out, *app);
  out << "\nOPTIONS";
  write_options(out, *app, is_whole);
  if (!is_whole) write_options(out, *app->get_parent(), true);
  for (const auto& s : about.behind_options) write(out, s);
  return out.str();
}

}  // namespace rowlock::command
