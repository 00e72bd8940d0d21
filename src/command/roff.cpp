#include "command/manual.hpp"

#include <cctype>
#include <string_view>

namespace rowlock::command {

namespace {

/// So that it is printed as it stands: groff makes typographic characters of some, and a line that begins with a full
/// stop or an apostrophe is a request.
std::string escaped(std::string_view text) {
  std::string out;
  if (!text.empty() && (text[0] == '.' || text[0] == '\'')) out += "\\&";
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

class roff_paper final : public paper {
 public:
  explicit roff_paper(const std::string& title) {
    out_ = ".TH " + upper(escaped(title)) + " 1 \"\" \"rowlock " + escaped(ROWLOCK_VERSION) + "\"\n";
    out_ += ".nh\n.ad l\n";  // options and commands must not be cut, nor drawn apart
  }

  void heading(std::string_view title) override {
    end_lines();
    out_ += ".SH " + escaped(title) + '\n';
    begins_ = true;
  }

  void paragraph(std::string_view text) override {
    end_lines();
    text.remove_suffix(text.size() - 1 - text.find_last_not_of(' '));
    add(escaped(text));
  }

  void line(std::string_view text) override {
    if (!is_in_lines_) out_ += begins_ ? ".nf\n" : ".PP\n.nf\n";
    is_in_lines_ = true;
    add(escaped(text));
  }

  void gap() override {
    end_lines();
    out_ += ".PP\n";
    begins_ = true;
  }

  void item(std::string_view term, std::string_view arguments, std::string_view text) override {
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
  void add(const std::string& text) {
    out_ += text + '\n';
    begins_ = false;
  }

  void end_lines() {
    if (is_in_lines_) out_ += ".fi\n";
    is_in_lines_ = false;
  }

  std::string out_{};
  bool begins_ = true;  // a section or a paragraph, where another .PP would be one too many
  bool is_in_lines_ = false;
};

}  // namespace

std::string roff_page(const CLI::App& app) {
  roff_paper out{title_of(app)};
  write_manual(out, app);
  return out.text();
}

}  // namespace rowlock::command
