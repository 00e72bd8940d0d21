#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "command/screen_model.hpp"
#include "command/terminal.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {

/// A terminal, and what is on its screen now.
class watched_terminal {
 public:
  watched_terminal(const std::vector<std::string>& job, int columns, int lines)
      : at_{job, columns, lines}, model_{columns, lines} {}

  const screen_model& screen() {
    const auto& all = at_.screen();
    model_.feed(std::string_view{all}.substr(fed_));
    fed_ = all.size();
    return model_;
  }
  bool shows(const std::function<bool(const screen_model&)>& what) {
    return eventually([&] { return what(screen()); });
  }
  bool shows(std::string_view text) {
    return shows([&](const screen_model& now) { return now.text().find(text) != std::string::npos; });
  }
  bool hides(std::string_view text) {
    return shows([&](const screen_model& now) { return now.text().find(text) == std::string::npos; });
  }
  void resize(int columns, int lines) {
    screen();
    model_.resize(columns, lines);
    at_.resize(columns, lines);
  }
  terminal& at() { return at_; }

 private:
  terminal at_;
  screen_model model_;
  std::size_t fed_ = 0;
};

}  // namespace rowlock::test
