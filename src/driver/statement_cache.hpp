#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

namespace rowlock::inline v1::driver {

/// The statements that a session has sent, by their texts. A statement stays where it is.
template <class Statement>
class statement_cache {
 public:
  /// `make()` makes the statement of a text that is new. The texts are few and of different lengths: to compare with
  /// each is cheaper than to hash a long text.
  template <class Make>
  Statement& find_or_make(const std::string& text, Make make) {
    for (entry& each : all_)
      if (each.text == text) return each.statement;
    return all_.emplace_back(entry{.text = text, .statement = make()}).statement;
  }

  void clear() noexcept { all_.clear(); }
  std::size_t size() const noexcept { return all_.size(); }

 private:
  struct entry {
    std::string text;
    Statement statement;
  };
  std::deque<entry> all_;
};

}  // namespace rowlock::inline v1::driver
