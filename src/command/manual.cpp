#include "command/manual.hpp"

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "command/pages.hpp"

namespace rowlock::command {

namespace {

bool is_whole(const CLI::App& app) { return app.get_parent() == nullptr; }

// An empty line parts paragraphs; a line that begins with a space stands as it is, without that.
void write(paper& out, const page::section& s) {
  out.heading(s.title);
  std::istringstream lines{std::string{s.text}};
  std::string so_far;
  const auto flush = [&] {
    if (!so_far.empty()) out.paragraph(std::exchange(so_far, {}));
  };
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != ' ') {
      so_far += line + ' ';
      continue;
    }
    flush();
    if (line.empty())
      out.gap();
    else
      out.line(line.substr(1));
  }
  flush();
}

void write_options(paper& out, const CLI::App& app, bool with_help) {
  for (const CLI::Option* o : options_of(app))
    if (with_help || o != app.get_help_ptr())
      out.item(o->get_name(false, true), o->get_type_name(), o->get_description());
}

void write_subcommands(paper& out, const CLI::App& app) {
  const auto all = subcommands_of(app);
  if (all.empty()) return;
  out.heading("SUBCOMMANDS");
  for (const CLI::App* sub : all) {
    const auto synopsis = page_of(sub->get_name()).synopsis;
    const auto name = sub->get_name().size();
    const auto arguments = synopsis.size() > name ? synopsis.substr(name + 1) : std::string_view{};
    out.item(sub->get_name(), arguments, sub->get_description());
  }
}

void write_relatives(paper& out, const CLI::App& app) {
  std::string names = is_whole(app) ? "" : "rowlock(1)";
  for (const CLI::App* sub : subcommands_of(app)) names += (names.empty() ? "" : ", ") + title_of(*sub) + "(1)";
  out.heading("SEE ALSO");
  out.paragraph(names);
}

}  // namespace

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* find_subcommand(const CLI::App& app, std::string_view name) {
  for (const auto* each : subcommands_of(app))
    if (each->get_name() == name) return each;
  return nullptr;
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* each) { return each->nonpositional(); });
}

std::string title_of(const CLI::App& app) { return (is_whole(app) ? "" : "rowlock-") + app.get_name(); }

void write_manual(paper& out, const CLI::App& app) {
  const page& about = page_of(app.get_name());
  out.heading("NAME");
  out.paragraph(title_of(app) + " - " + std::string{about.summary});
  out.heading("SYNOPSIS");
  out.line("rowlock " + std::string{is_whole(app) ? "[OPTION]... " : ""} + std::string{about.synopsis});
  for (const auto& s : about.before_options) write(out, s);
  write_subcommands(out, app);
  out.heading("OPTIONS");
  write_options(out, app, is_whole(app));
  if (!is_whole(app)) write_options(out, *app.get_parent(), true);
  for (const auto& s : about.behind_options) write(out, s);
  write_relatives(out, app);
}

}  // namespace rowlock::command
