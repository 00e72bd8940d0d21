#include "command/complaints.hpp"

#include <algorithm>
#include <string_view>

#include "command/manual.hpp"
#include "command/pages.hpp"

namespace rowlock::command {

namespace {

/// The subcommand that was given, or else the program.
const CLI::App& innermost(const CLI::App& whole) {
  const auto given = whole.get_subcommands();
  return given.empty() ? whole : *given.front();
}

std::string synopsis_of(const CLI::App& app) { return "rowlock " + std::string{page_of(app.get_name()).synopsis}; }

bool names(std::string_view word, const std::string& long_name) {
  return word.starts_with("--") && word.substr(2, word.find('=') - 2) == long_name;
}

/// -n for one who wrote that, and --nonblock for one who wrote that.
std::string typed_name(const CLI::Option& option, const std::vector<std::string>& words) {
  if (option.get_positional()) return option.get_name(true);
  for (const auto& long_name : option.get_lnames())
    if (std::any_of(words.begin(), words.end(), [&](const auto& word) { return names(word, long_name); }))
      return "--" + long_name;
  return option.get_snames().empty() ? option.get_name() : '-' + option.get_snames().front();
}

struct clash {
  const CLI::Option* one = nullptr;
  const CLI::Option* other = nullptr;
};

/// Of the two sets, `others` has one of the options that were given, or lacks it.
template <class Others>
clash find_clash(const CLI::App& app, Others others, bool is_given) {
  for (const auto* each : app.get_options()) {
    if (each->count() == 0) continue;
    for (const auto* other : others(*each))
      if ((other->count() != 0) == is_given) return {each, other};
  }
  return {};
}

std::string about_superfluous_words(const CLI::App& whole, const std::string& otherwise) {
  auto superfluous = whole.remaining(true);
  if (const auto mark = std::find(superfluous.begin(), superfluous.end(), "--"); mark != superfluous.end())
    superfluous.erase(mark);
  if (superfluous.empty()) return otherwise;
  const auto& sub = innermost(whole);
  return '"' + superfluous.front() + (superfluous.size() == 1 ? "\" is" : "\" and what follows it are") +
         " too much; write: " + synopsis_of(sub);
}

std::string about_what_is_missing(const CLI::App& whole) {
  const auto& sub = innermost(whole);
  if (&sub != &whole) return "no NAME is given; write: " + synopsis_of(sub);
  std::string all;
  for (const auto* each : subcommands_of(whole)) all += (all.empty() ? "" : ", ") + each->get_name();
  return "no subcommand is given; there are " + all;
}

std::string about_a_flag(const std::vector<std::string>& words, const std::string& otherwise) {
  const auto word = std::find_if(words.begin(), words.end(), [&](const auto& each) {
    const auto end = each.find('=');
    return end != std::string::npos && otherwise.find(each.substr(0, end) + " =") != std::string::npos;
  });
  if (word == words.end()) return otherwise;
  const auto end = word->find('=');
  return word->substr(0, end) + " takes no value; leave out " + word->substr(end);
}

/// CLI11's sentences about an option begin with its name.
const CLI::Option* option_in(const CLI::App& whole, std::string_view sentence) {
  const std::string name{sentence.substr(0, sentence.find(':'))};
  const auto* found = innermost(whole).get_option_no_throw(name);
  return found != nullptr ? found : whole.get_option_no_throw(name);
}

}  // namespace

std::string complaint_about(const CLI::App& whole, const CLI::ParseError& refused,
                            const std::vector<std::string>& words) {
  std::string sentence = refused.what();
  const auto& sub = innermost(whole);
  const auto typed = [&](const CLI::Option& option) { return typed_name(option, words); };
  switch (static_cast<CLI::ExitCodes>(refused.get_exit_code())) {
    case CLI::ExitCodes::ExtrasError:
      return about_superfluous_words(whole, sentence);
    case CLI::ExitCodes::RequiredError:
      return about_what_is_missing(whole);
    case CLI::ExitCodes::ExcludesError:
      if (const auto [one, other] = find_clash(
              sub, [](auto& o) { return o.get_excludes(); }, true);
          one != nullptr)
        return typed(*one) + " and " + typed(*other) + " exclude each other; leave out one of them";
      return sentence;
    case CLI::ExitCodes::RequiresError:
      if (const auto [one, other] = find_clash(
              sub, [](auto& o) { return o.get_needs(); }, false);
          one != nullptr)
        return typed(*one) + " is only for " + typed(*other) + "; give that too, or leave out " + typed(*one);
      return sentence;
    case CLI::ExitCodes::ConversionError:
      return about_a_flag(words, sentence);
    default:
      break;
  }
  const auto* const option = option_in(whole, sentence);
  if (option == nullptr) return sentence;
  const auto name = typed(*option);
  if (refused.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch))
    return name + " has no value; write: " + name + ' ' + option->get_type_name();
  return name + sentence.substr(std::min(sentence.find(':'), sentence.size()));
}

std::string with_page(const std::string& sentence, const std::string& page) {
  return sentence + (sentence.ends_with('?') ? " See " : "; see ") + page;
}

}  // namespace rowlock::command
