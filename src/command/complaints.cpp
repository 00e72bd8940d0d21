#include "command/complaints.hpp"

#include <algorithm>
#include <string_view>

#include "command/manual.hpp"
#include "command/words.hpp"

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

/// Also one that is the library's default: there is no lease that it could be about.
void refuse_what_is_about_a_lease(const CLI::App& taking, const run_options& given) {
  if (given.lock.strategy != strategy::for_update) return;
  for (const auto* flag : {"--lease", "--at-least", "--hold-limit"})
    if (taking.count(flag) != 0)
      throw usage_error{std::string{flag} + " is about a lease, and for_update has none; leave out " + flag +
                        ", or choose another --strategy"};
}

void refuse_what_cannot_be_shared(const CLI::App& taking, const run_options& given) {
  if (!given.is_shared && given.permits == 0) return;
  const std::string flag = given.is_shared ? "--shared" : "--permits";
  if (given.lock.strategy != strategy::unique_index)
    throw usage_error{flag + " is for unique_index only; leave out --strategy"};
  if (taking.count("--at-least") != 0)
    throw usage_error{"--at-least is for a lock that one has alone; leave out --at-least or " + flag};
}

std::string typed(const CLI::App& taking, const std::string& flag, duration otherwise) {
  return taking.count(flag) != 0 ? taking.get_option(flag)->as<std::string>() : bound_in_words(otherwise);
}

/// If rowlock dies, its lease is all that keeps the name taken.
void refuse_at_least_beyond_the_lease(const CLI::App& taking, const lock_options& lock) {
  if (lock.at_least <= lock.lease) return;
  const auto least = typed(taking, "--at-least", lock.at_least);
  throw usage_error{"--at-least " + least + " is longer than the lease of " + typed(taking, "--lease", lock.lease) +
                    ", after which the name would be free if rowlock died; give --lease " + least + " too"};
}

void refuse_in_taking(const CLI::App& taking, const run_options& given) {
  if (!taking.parsed()) return;
  refuse_what_is_about_a_lease(taking, given);
  refuse_what_cannot_be_shared(taking, given);
  refuse_at_least_beyond_the_lease(taking, given.lock);
}

void refuse_no_time(const CLI::App& sweep) {
  if (sweep.parsed() && sweep.count("--once") + sweep.count("--every") == 0)
    throw usage_error{
        "neither --once nor --every is given; write: rowlock sweep --once, or rowlock sweep --every DURATION"};
}

void refuse_without_force(const CLI::App& release) {
  if (release.parsed() && release.count("--force") == 0)
    throw usage_error{
        "a lock is released by its holder, when its command or program is done; release --force frees it, whoever has "
        "it"};
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

void refuse_contradictions(const CLI::App& app, const run_options& given) {
  for (const auto* taking : {"run", "hold"}) refuse_in_taking(*app.get_subcommand(taking), given);
  refuse_no_time(*app.get_subcommand("sweep"));
  refuse_without_force(*app.get_subcommand("release"));
}

}  // namespace rowlock::command
