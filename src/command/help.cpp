#include "command/manual.hpp"

#include <sstream>
#include <string_view>

namespace rowlock::command {

namespace {

constexpr std::size_t width = 80;
constexpr std::size_t indent = 7;

/// Lines of plain text.
class plain_paper final : public paper {
 public:
  void heading(std::string_view title) override {
    out_ << (is_empty_ ? "" : "\n") << title << '\n';
    is_empty_ = false;
  }

  void paragraph(std::string_view text) override { fill(text, indent); }
  void line(std::string_view text) override { out_ << std::string(indent, ' ') << text << '\n'; }
  void gap() override { out_ << '\n'; }

  void item(std::string_view term, std::string_view arguments, std::string_view text) override {
    out_ << std::string(indent, ' ') << term << (arguments.empty() ? "" : " ") << arguments << '\n';
    fill(text, 2 * indent);
  }

  std::string text() const { return out_.str(); }

 private:
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

  std::ostringstream out_;
  bool is_empty_ = true;
};

}  // namespace

std::string manual_formatter::make_help(const CLI::App* app, std::string /*name*/, CLI::AppFormatMode /*mode*/) const {
  plain_paper out;
  write_manual(out, *app);
  return out.text();
}

}  // namespace rowlock::command
