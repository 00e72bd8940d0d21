#include <string_view>

#include "command/completion.hpp"
#include "command/manual.hpp"

namespace rowlock::command {

namespace {

constexpr std::string_view fish_functions = R"fish(
# The words before the current one that are no options: the subcommand, and what comes after it.
function __rowlock_words
    set -l is_value 0
    set -l has_ended 0
    for word in (commandline -opc)[2..]
        if test $is_value = 1
            set is_value 0
        else if test $has_ended = 1
            echo -- $word
        else if test "$word" = --
            set has_ended 1
        else if contains -- $word (__rowlock_options_with_values)
            set is_value 1
        else if not string match -q -- '-*' $word
            echo $word
        end
    end
end

function __rowlock_has_no_subcommand
    test (count (__rowlock_words)) = 0
end

# Whether the subcommand is one of these, and its own words are no command of run's or lead's.
function __rowlock_is
    set -l words (__rowlock_words)
    test (count $words) -gt 0; or return
    contains -- $words[1] $argv; or return
    not __rowlock_is_in_command
end

# The same, where nothing has come after it.
function __rowlock_is_just
    test (count (__rowlock_words)) = 1; and __rowlock_is $argv
end

function __rowlock_is_in_command
    set -l words (__rowlock_words)
    test (count $words) -gt 1; and contains -- $words[1] run lead
end

# Those of the command line that are about the database.
function __rowlock_database
    set -l words (commandline -opc)
    for i in (seq 2 (count $words))
        switch $words[$i]
            case '--database=*' '--table-prefix=*'
                echo $words[$i]
            case --database --table-prefix
                test $i -lt (count $words); and printf '%s\n' $words[$i] $words[(math $i + 1)]
        end
    end
end

# Nothing where no database is given, or it does not answer.
function __rowlock_names
    set -l program (commandline -opc)[1]
    timeout 2 $program (__rowlock_database) list </dev/null 2>/dev/null | tail -n +2 |
        string replace -r '  .*' '' | string match -v -- '*\\\\*'
end

function __rowlock_databases
    set -l begun (string replace -r -- '^--database=' '' (commandline -ct))
    if string match -q -- 'sqlite:*' $begun
        for file in (string replace sqlite: '' -- $begun)*
            test -d $file; and echo sqlite:$file/; or echo sqlite:$file
        end
    else
        printf '%s\n' sqlite: postgresql:// mysql://
    end
end

# The command of run or lead, and its arguments.
function __rowlock_command
    set -l words (__rowlock_words)
    set -e words[1..2]
    test "$words[1]" = --; and set -e words[1]
    set -l begun (commandline -ct)
    complete -C (string join ' ' -- (string escape -- $words) $begun)
end
)fish";

std::string flag_of(const CLI::Option& o) {
  std::string out;
  for (const auto& each : o.get_lnames()) out += " -l " + each;
  for (const auto& each : o.get_snames()) out += " -s " + each;
  return out;
}

std::string value_for(std::string_view kind) {
  if (kind.empty()) return "";
  if (kind == "FILE") return " -r -F";
  if (kind == "URL") return " -x -a '(__rowlock_databases)'";
  std::string values;
  for (const auto& each : values_of_kind(kind)) values += (values.empty() ? "" : " ") + each;
  return values.empty() ? " -x" : " -x -a '" + values + '\'';
}

/// In fish's own quotes.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out += '\'';
}

std::string options_where(const std::string& condition, const CLI::App& app) {
  std::string out;
  for (const auto* option : options_of(app))
    out += "complete -c rowlock -n '" + condition + '\'' + flag_of(*option) + value_for(option->get_type_name()) +
           " -d " + fish_quoted(option->get_description()) + '\n';
  return out;
}

std::string options_with_values(const CLI::App& whole) {
  std::string out = "\nfunction __rowlock_options_with_values\n    printf '%s\\n'";
  const auto add = [&out](const CLI::App& app) {
    for (const auto* option : options_of(app))
      if (!option->get_type_name().empty())
        for (const auto& flag : flags_of(*option)) out += ' ' + flag;
  };
  add(whole);
  for (const auto* sub : subcommands_of(whole)) add(*sub);
  return out + "\nend\n";
}

std::string subcommands_where(const std::string& condition, const CLI::App& whole) {
  std::string out;
  for (const auto* sub : subcommands_of(whole))
    out += "complete -c rowlock -n '" + condition + "' -a " + sub->get_name() + " -d " +
           fish_quoted(sub->get_description()) + '\n';
  return out;
}

}  // namespace

std::string fish_completion(const CLI::App& whole) {
  std::string out = "# Completion of rowlock for fish, by: rowlock help --completion fish\n";
  out += options_with_values(whole) + std::string{fish_functions} + "\ncomplete -c rowlock -f\n";
  out += options_where("not __rowlock_is_in_command", whole);
  for (const auto* sub : subcommands_of(whole)) out += options_where("__rowlock_is " + sub->get_name(), *sub);
  out += subcommands_where("__rowlock_has_no_subcommand", whole) + subcommands_where("__rowlock_is_just help", whole);
  out += "complete -c rowlock -n '__rowlock_is_just show waiters release' -a '(__rowlock_names)'\n";
  return out + "complete -c rowlock -n __rowlock_is_in_command -a '(__rowlock_command)'\n";
}

}  // namespace rowlock::command
