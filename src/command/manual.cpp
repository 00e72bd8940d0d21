#include "command/manual.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <sstream>
#include <utility>

namespace rowlock::command {

namespace {

// Two formats for pages of the manual. Each receives the parts in reading order: headings, paragraphs of text that is
// wrapped into lines, lines that are printed unchanged, gaps, and items: an option or a subcommand, with the name of
// its value or its arguments, and what it does.

class plain_paper {
 public:
  void heading(std::string_view title) { out_ << (out_.tellp() > 0 ? "\n" : "") << title << '\n'; }
  void paragraph(std::string_view text) { fill(text, indent); }
  void line(std::string_view text) { out_ << std::string(indent, ' ') << text << '\n'; }
  void gap() { out_ << '\n'; }

  void item(std::string_view term, std::string_view arguments, std::string_view text) {
    out_ << std::string(indent, ' ') << term << (arguments.empty() ? "" : " ") << arguments << '\n';
    fill(text, 2 * indent);
  }

  std::string text() const { return out_.str(); }

 private:
  static constexpr std::size_t width = 80;
  static constexpr std::size_t indent = 7;

  void fill(std::string_view text, std::size_t margin) {
    std::istringstream words{std::string{text}};
    std::size_t column = 0;
    for (std::string word; words >> word;) {
      if (column != 0 && column + 1 + word.size() > width) {
        out_ << '\n';
        column = 0;
      }
      const std::size_t before = column == 0 ? margin : 1;
      out_ << std::string(before, ' ') << word;
      column += before + word.size();
    }
    if (column != 0) out_ << '\n';
  }

  std::ostringstream out_{};
};

/// The characters that groff replaces by typographic ones.
constexpr std::pair<char, std::string_view> escapes[] = {{'\\', "\\e"},  {'-', "\\-"},   {'\'', "\\(aq"},
                                                         {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};

/// Text that groff prints unchanged. A line that begins with a full stop or an apostrophe would be a request.
std::string escaped(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (const char c : text) {
    const auto* const escape =
        std::find_if(std::begin(escapes), std::end(escapes), [&](const auto& each) { return each.first == c; });
    if (escape != std::end(escapes))
      out += escape->second;
    else
      out += c;
  }
  return out;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

class roff_paper {
 public:
  explicit roff_paper(const std::string& title) {
    out_ = ".TH " + upper(escaped(title)) + " 1 \"\" \"rowlock " + escaped(ROWLOCK_VERSION) + "\"\n";
    out_ += ".nh\n.ad l\n";  // options and commands must be neither hyphenated nor stretched
  }

  void heading(std::string_view title) { begin(".SH " + escaped(title)); }
  void gap() { begin(".PP"); }

  void paragraph(std::string_view text) {
    end_lines();
    add(escaped(text));
  }

  void line(std::string_view text) {
    if (!is_in_lines_) out_ += begins_ ? ".nf\n" : ".PP\n.nf\n";
    is_in_lines_ = true;
    add(escaped(text));
  }

  void item(std::string_view term, std::string_view arguments, std::string_view text) {
    end_lines();
    out_ += ".TP\n\\fB" + escaped(term) + "\\fR";
    if (!arguments.empty()) out_ += " \\fI" + escaped(arguments) + "\\fR";
    out_ += '\n';
    add(escaped(text));
  }

  std::string text() {
    end_lines();
    return out_;
  }

 private:
  void begin(const std::string& request) {
    end_lines();
    add(request);
    begins_ = true;
  }

  void add(const std::string& text) {
    out_ += text + '\n';
    begins_ = false;
  }

  void end_lines() {
    if (is_in_lines_) out_ += ".fi\n";
    is_in_lines_ = false;
  }

  std::string out_{};
  bool begins_ = true;  // a section or paragraph has just begun, and needs no .PP
  bool is_in_lines_ = false;
};

bool is_whole(const CLI::App& app) { return app.get_parent() == nullptr; }

/// "rowlock-run", as the page is called.
std::string title_of(const CLI::App& app) { return (is_whole(app) ? "" : "rowlock-") + app.get_name(); }

void write_subcommands(auto& out, const CLI::App& app) {
  for (const CLI::App* sub : subcommands_of(app)) {
    const auto synopsis = page_of(sub->get_name()).synopsis;
    const auto name = sub->get_name().size();
    const auto arguments = synopsis.size() > name ? synopsis.substr(name + 1) : std::string_view{};
    out.item(sub->get_name(), arguments, sub->get_description());
  }
}

void begin_section(auto& out, const CLI::App& app, std::string_view title) {
  out.heading(title);
  if (title == "SUBCOMMANDS") write_subcommands(out, app);
  if (title != "OPTIONS") return;
  for (const CLI::Option* o : options_of(app))
    out.item(o->get_name(false, true), o->get_type_name(), o->get_description());
}

void write_text(auto& out, const CLI::App& app, std::string_view text) {
  std::istringstream lines{std::string{text}};
  std::string paragraph;
  bool has_gap = false;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) out.paragraph(std::exchange(paragraph, {}));
  };
  for (std::string line; std::getline(lines, line);) {
    const bool is_filled = !line.empty() && line[0] != ' ' && line[0] != '#' && line[0] != '@';
    if (!is_filled) end_paragraph();
    const bool is_text = is_filled || line.starts_with(' ');
    if (is_text && std::exchange(has_gap, false)) out.gap();
    if (is_filled)
      paragraph += (paragraph.empty() ? "" : " ") + line;
    else if (is_text)
      out.line(line.substr(1));
    else
      has_gap = line.empty();
    if (line.starts_with("## ")) begin_section(out, app, line.substr(3));
    if (line.starts_with('@')) write_text(out, app, shared_text(line.substr(1)));
  }
  end_paragraph();
}

void write_page(auto& out, const CLI::App& app) {
  const page& about = page_of(app.get_name());
  out.heading("NAME");
  out.paragraph(title_of(app) + " - " + std::string{about.summary});
  out.heading("SYNOPSIS");
  out.line("rowlock " + std::string{is_whole(app) ? "[OPTION]... " : ""} + std::string{about.synopsis});
  write_text(out, app, about.text);
  std::string relatives = is_whole(app) ? "" : "rowlock(1)";
  for (const CLI::App* sub : subcommands_of(app)) relatives += (relatives.empty() ? "" : ", ") + title_of(*sub) + "(1)";
  out.heading("SEE ALSO");
  out.paragraph(relatives);
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

// CLI11 gives each subcommand an option for help, besides that of the program.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  const auto* const another = is_whole(app) ? nullptr : app.get_help_ptr();
  auto out = app.get_options([&](const CLI::Option* each) { return each->nonpositional() && each != another; });
  if (is_whole(app)) return out;
  const auto of_program = options_of(*app.get_parent());
  out.insert(out.end(), of_program.begin(), of_program.end());
  return out;
}

const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  const auto* const found = app.get_option_no_throw(name);
  return found != nullptr || is_whole(app) ? found : app.get_parent()->get_option_no_throw(name);
}

std::string plain_page(const CLI::App& app) {
  plain_paper out;
  write_page(out, app);
  return out.text();
}

std::string roff_page(const CLI::App& app) {
  roff_paper out{title_of(app)};
  write_page(out, app);
  return out.text();
}

}  // namespace rowlock::command
