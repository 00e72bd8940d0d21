#include "sql/loader.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::inline v1::sheets {

namespace {

/// Takes the lines of the sheet. An empty line ends a passage.
class printer {
 public:
  printer(std::string_view text, const sent_texts& sent, const layout& how)
      : entries_{read_sheet(text)}, sent_{sent}, how_{how} {}

  void take(std::string_view line) {
    const auto begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos)
      end_passage();
    else if (line.substr(begin).starts_with("--"))
      take_comment(line);
  }

  std::vector<passage> result() && {
    end_passage();
    return std::move(passages_);
  }

 private:
  void take_comment(std::string_view line) {
    const auto key = slot_in(line).key;
    if (key == "name") begin_verb();
    if (begins_statement(key)) {
      print_statement();
      statement_ = key;
    }
    current_.text.append(line).push_back('\n');
  }

  void begin_verb() {
    end_passage();
    verb_ = &entries_.at(begun_++);
    current_.name = verb_->name;
  }

  void end_passage() {
    print_statement();
    if (!current_.text.empty()) passages_.push_back(std::exchange(current_, {}));
    verb_ = nullptr;
  }

  // After all comments about it.
  void print_statement() {
    const auto key = std::exchange(statement_, {});
    if (key.empty() || verb_ == nullptr) return;
    std::string_view sent = statement_in(sent_.of_client, sent_.of_caller, *verb_, key);
    if (sent.starts_with('\n')) sent.remove_prefix(1);
    const auto printed = how_(std::string{sent}, *verb_, key);
    current_.text.append(printed.empty() ? "-- Not sent to this server.\n" : printed + ";\n");
  }

  const std::vector<entry> entries_;
  const sent_texts& sent_;
  const layout& how_;
  std::vector<passage> passages_;
  passage current_;
  std::size_t begun_ = 0;         // how many verbs
  const entry* verb_ = nullptr;   // of this passage
  std::string_view statement_{};  // its key; printed before the next one begins
};

}  // namespace

std::vector<passage> passages_of(std::string_view head, std::string_view text, const sent_texts& sent,
                                 const layout& how) {
  printer out{text, sent, how};
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    out.take(line);
  }
  auto passages = std::move(out).result();
  passages.insert(passages.begin(), {.text = std::string{head}});
  return passages;
}

}  // namespace rowlock::inline v1::sheets
