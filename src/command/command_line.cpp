#include "command/command_line.hpp"

#include <rowlock/error.hpp>

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "command/manual.hpp"
#include "command/words.hpp"
#include "core/job_options.hpp"

namespace rowlock::command {

namespace {

// --- the words -------------------------------------------------------------------------------------------------------

bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views{names.begin(), names.end()};
  return base::did_you_mean(word, views);
}

class parting {
 public:
  parting(const CLI::App& whole, std::span<const char* const> words) : whole_{whole}, words_{words} {
    line_.app = &whole;
  }

  command_line result() && {
    while (at_ < words_.size() && !line_.is_in_command) take(words_[at_++]);
    line_.command.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
    std::reverse(line_.ours.begin(), line_.ours.end());
    return std::move(line_);
  }

 private:
  // After "--" there are no options: NAME follows if it is still missing, then the command, which a second "--" may
  // precede.
  void take(std::string_view word) {
    const bool may_be_option = is_option(word) && !line_.has_ended_options;
    if (line_.takes_command_next() && (word == "--" || !may_be_option)) {
      line_.is_in_command = true;
      if (word != "--") --at_;
    } else if (!may_be_option) {
      take_word(word);
    } else if (word == "--") {
      line_.has_ended_options = true;
      line_.ours.emplace_back("--");
    } else {
      take_option(word);
    }
  }

  void take_word(std::string_view word) {
    if (line_.has_subcommand())
      ++line_.arguments;
    else
      line_.app = &subcommand(word);
    line_.ours.emplace_back(word);
  }

  void take_option(std::string_view word) {
    line_.ours.emplace_back(word);
    const auto* const wanting = option_that_takes_next(word);
    if (at_ == words_.size()) line_.open_option = wanting;
    if (wanting == nullptr || at_ == words_.size()) return;
    if (words_[at_] == std::string_view{"--"})
      throw usage_error{std::string{word}.append(" has no value; write: ").append(word) + ' ' +
                        wanting->get_type_name()};
    line_.ours.emplace_back(words_[at_++]);
  }

  // In a group such as -nE0, the first letter that takes a value takes the rest of the word. nullptr: no option takes
  // the next word.
  const CLI::Option* option_that_takes_next(std::string_view word) const {
    if (word.starts_with("--")) {
      const auto end = word.find('=');
      const auto& found = option(word.substr(0, end));
      return takes_value(found) && end == std::string_view::npos ? &found : nullptr;
    }
    for (std::size_t i = 1; i < word.size(); ++i)
      if (const auto& found = option(std::string{'-', word[i]}); takes_value(found))
        return i + 1 == word.size() ? &found : nullptr;
    return nullptr;
  }

  static bool takes_value(const CLI::Option& o) { return o.get_items_expected_max() > 0; }

  const CLI::Option& option(std::string_view flag) const {
    const std::string name{flag};
    if (const auto* found = find_option(*line_.app, name)) return *found;
    throw usage_error{unknown_option(name)};
  }

  std::string unknown_option(const std::string& flag) const {
    std::vector<std::string> names;
    for (const auto* each : options_of(*line_.app))
      for (const auto& name : each->get_lnames()) names.push_back("--" + name);
    if (line_.has_subcommand()) return line_.app->get_name() + " has no option " + flag + nearest(flag, names);
    if (const auto* owner = owner_of(flag))
      return flag + " is an option of " + owner->get_name() + ", and comes after it: rowlock " + owner->get_name() +
             ' ' + flag;
    return "there is no option " + flag + " before a subcommand" + nearest(flag, names);
  }

  // The first subcommand among the later words, if it has this option.
  const CLI::App* owner_of(const std::string& flag) const {
    for (const auto* word : words_.subspan(at_))
      if (const auto* found = find_subcommand(whole_, word))
        return found->get_option_no_throw(flag) != nullptr ? found : nullptr;
    return nullptr;
  }

  const CLI::App& subcommand(std::string_view word) const {
    if (const auto* found = find_subcommand(whole_, word)) return *found;
    throw usage_error{no_subcommand(whole_, word)};
  }

  const CLI::App& whole_;
  std::span<const char* const> words_;
  command_line line_{};
  std::size_t at_ = 1;
};

// --- contradictions --------------------------------------------------------------------------------------------------

/// Even if the given value is the default: this strategy has no lease.
void refuse_lease_of_a_transaction(const CLI::App& taking, const run_options& given) {
  if (given.lock.strategy != strategy::for_update) return;
  for (const auto* flag : {"--lease", "--at-least", "--hold-limit"})
    if (taking.count(flag) != 0)
      throw usage_error{
          fmt::format("{} is about a lease, and for_update has none; leave out {}, or choose another "
                      "--strategy",
                      flag, flag)};
}

void refuse_what_cannot_be_shared(const CLI::App& taking, const run_options& given) {
  if (!given.is_shared && given.permits == 0) return;
  const std::string flag = given.is_shared ? "--shared" : "--permits";
  if (given.lock.strategy != strategy::unique_index)
    throw usage_error{flag + " is for unique_index only; leave out --strategy"};
  if (taking.count("--at-least") != 0)
    throw usage_error{"--at-least is for an exclusive lock; leave out --at-least or " + flag};
}

std::string typed(const CLI::App& taking, const std::string& flag, duration otherwise) {
  return taking.count(flag) != 0 ? taking.get_option(flag)->as<std::string>() : bound_in_words(otherwise);
}

/// If rowlock dies, only its lease keeps the name taken.
void refuse_at_least_beyond_the_lease(const CLI::App& taking, const lock_options& lock) {
  if (lock.at_least <= lock.lease) return;
  const auto least = typed(taking, "--at-least", lock.at_least);
  throw usage_error{"--at-least " + least + " is longer than the lease of " + typed(taking, "--lease", lock.lease) +
                    ", after which the name would be free if rowlock died; give --lease " + least + " too"};
}

std::string flag_of(std::string_view option_of_a_job) {
  if (option_of_a_job == "early_by") return "--early";
  if (option_of_a_job == "time_zone") return "--timezone";
  std::string out{"--"};
  for (const char c : option_of_a_job) out.push_back(c == '_' ? '-' : c);
  return out;
}

void refuse_impossible_period(const CLI::App& taking, const run_options& given) {
  if (!given.every) return;
  try {
    core::periods_of(job_of(given), {.name = flag_of, .value = [&](std::string_view option, duration value) {
                                       return typed(taking, flag_of(option), value);
                                     }});
  } catch (const error& e) {
    throw usage_error{e.what()};
  }
}

}  // namespace

std::string no_subcommand(const CLI::App& whole, std::string_view word) {
  std::vector<std::string> names;
  for (const auto* each : subcommands_of(whole)) names.push_back(each->get_name());
  return "there is no subcommand " + base::quoted(word) + nearest(word, names);
}

command_line part(const CLI::App& whole, std::span<const char* const> words) { return parting{whole, words}.result(); }

void refuse_contradictions(const CLI::App& taking, const options& given) {
  if (given.what == subcommand::run || given.what == subcommand::hold) {
    refuse_lease_of_a_transaction(taking, given.run);
    refuse_what_cannot_be_shared(taking, given.run);
    refuse_at_least_beyond_the_lease(taking, given.run.lock);
    refuse_impossible_period(taking, given.run);
  }
  if (given.what == subcommand::sweep && taking.count("--once") + taking.count("--every") == 0)
    throw usage_error{
        "neither --once nor --every is given; write: rowlock sweep --once, or rowlock sweep --every DURATION"};
  if (given.what == subcommand::release && taking.count("--force") == 0)
    throw usage_error{
        "a lock is released by its holder, when its command or program has ended; release --force frees it from any "
        "holder"};
}

}  // namespace rowlock::command
