#include "command/screen_model.hpp"

#include <array>

namespace rowlock::test {

screen_model::screen_model(int columns, int lines)
    : columns_{columns}, lines_{lines}, all_{vterm_new(lines, columns)}, screen_{vterm_obtain_screen(all_.get())} {
  vterm_set_utf8(all_.get(), 1);
  vterm_screen_enable_altscreen(screen_, 1);
  vterm_screen_reset(screen_, 1);
}

void screen_model::feed(std::string_view bytes) { vterm_input_write(all_.get(), bytes.data(), bytes.size()); }

void screen_model::resize(int columns, int lines) {
  columns_ = columns;
  lines_ = lines;
  vterm_set_size(all_.get(), lines, columns);
}

std::string screen_model::line(int number) const {
  std::array<char, 4096> bytes{};
  const VTermRect where{.start_row = number, .end_row = number + 1, .start_col = 0, .end_col = columns_};
  std::string out(bytes.data(), vterm_screen_get_text(screen_, bytes.data(), bytes.size(), where));
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::vector<std::string> screen_model::lines() const {
  std::vector<std::string> out;
  for (int i = 0; i < lines_; ++i) out.push_back(line(i));
  return out;
}

std::string screen_model::text() const {
  std::string out;
  for (const auto& each : lines()) out += each + '\n';
  return out;
}

std::string screen_model::line_with(std::string_view text) const {
  for (auto& each : lines())
    if (each.find(text) != std::string::npos) return each;
  return {};
}

std::string screen_model::reversed_line() const {
  for (int i = 1; i < lines_; ++i) {
    VTermScreenCell cell{};
    if (vterm_screen_get_cell(screen_, {.row = i, .col = 0}, &cell) != 0 && cell.attrs.reverse != 0) return line(i);
  }
  return {};
}

}  // namespace rowlock::test
