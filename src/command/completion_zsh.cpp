#include <string_view>

#include "command/completion.hpp"
#include "command/manual.hpp"

namespace rowlock::command {

namespace {

constexpr std::string_view zsh_head = R"zsh(#compdef rowlock
# Completion of rowlock for zsh, by: rowlock help --completion zsh
)zsh";

// The names of locks are anybody's: they are added as they are, and zsh quotes them.
constexpr std::string_view zsh_functions = R"zsh(
# Nothing where no database is given, or it does not answer.
_rowlock_names() {
    local -a names
    local line name
    while IFS= read -r line; do
        name=${line%%  *}
        [[ $name == *\\* ]] || names+=("$name")
    done < <(timeout 2 "$rowlock_program" "${rowlock_database[@]}" list </dev/null 2>/dev/null | tail -n +2)
    compadd -a names
}

_rowlock_databases() {
    if compset -P 'sqlite:'; then
        _files
    else
        compadd -S '' sqlite: postgresql:// mysql://
    fi
}

# What comes before the subcommand may be about the database, too.
_rowlock() {
    local curcontext=$curcontext state line rowlock_program=${(Q)words[1]} i
    local -a rowlock_database
    local -A opt_args
    for ((i = 2; i < CURRENT; ++i)); do
        [[ $words[i] != -- ]] || break
        case $words[i] in
        --database=* | --table-prefix=*) rowlock_database+=("${(Q)words[i]}") ;;
        --database | --table-prefix)
            ((i + 1 >= CURRENT)) || rowlock_database+=("$words[i]" "${(Q)words[i+1]}")
            ((++i))
            ;;
        esac
    done
    _arguments -C "${_rowlock_options[@]}" '1:subcommand:_rowlock_subcommands' '*::argument:->rest' && return
    [[ $state == rest ]] && _rowlock_of_subcommand "$words[1]"
}

if [[ $funcstack[1] == _rowlock ]]; then
    _rowlock "$@"
else
    compdef _rowlock rowlock
fi
)zsh";

/// For the brackets of _arguments, and for _describe.
std::string explained(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string action_for(std::string_view kind) {
  if (kind == "URL") return "_rowlock_databases";
  if (kind == "FILE") return "_files";
  std::string out;
  for (const auto& value : values_of_kind(kind)) out += (out.empty() ? "(" : " ") + value;
  return out.empty() ? " " : out + ')';
}

std::string specification_of(const CLI::Option& o, const std::string& flag) {
  const auto kind = o.get_type_name();
  auto out = flag + (kind.empty() ? "" : "=") + '[' + explained(o.get_description()) + ']';
  if (flag.starts_with("--") || kind.empty())
    if (!kind.empty()) out += ':' + kind + ':' + action_for(kind);
  return shell_quoted(out);
}

std::string specifications_of(const CLI::App& app) {
  std::string out;
  for (const auto* option : options_of(app))
    for (const auto& flag : flags_of(*option)) out += "\n        " + specification_of(*option, flag);
  return out;
}

/// What comes after the options.
std::string arguments_of(const std::string& subcommand) {
  if (subcommand == "show" || subcommand == "waiters" || subcommand == "release") return "'1:NAME:_rowlock_names'";
  if (subcommand == "run" || subcommand == "lead") return "'1:NAME: ' '*:::command:_normal'";
  if (subcommand == "help") return "'1:subcommand:_rowlock_subcommands'";
  return "'1:argument: '";
}

std::string of_subcommands(const CLI::App& whole) {
  std::string out = "\n_rowlock_of_subcommand() {\n    case $1 in\n";
  for (const auto* sub : subcommands_of(whole))
    out += "    " + sub->get_name() + ")\n        _arguments -S \"${_rowlock_options[@]}\"" + " \\\n            " +
           arguments_of(sub->get_name()) + " \"${_rowlock_options_of_" + sub->get_name() + "[@]}\"\n        ;;\n";
  return out + "    esac\n}\n";
}

std::string names_of_subcommands(const CLI::App& whole) {
  std::string out = "\n_rowlock_subcommands() {\n    local -a all=(";
  for (const auto* sub : subcommands_of(whole))
    out += "\n        " + shell_quoted(sub->get_name() + ':' + explained(sub->get_description()));
  return out + ")\n    _describe subcommand all\n}\n";
}

std::string array_of(const std::string& name, const CLI::App& app) {
  return "\ntypeset -ga " + name + "\n" + name + "=(" + specifications_of(app) + ")\n";
}

}  // namespace

std::string zsh_completion(const CLI::App& whole) {
  std::string out{zsh_head};
  out += array_of("_rowlock_options", whole);
  for (const auto* sub : subcommands_of(whole)) out += array_of("_rowlock_options_of_" + sub->get_name(), *sub);
  return out + names_of_subcommands(whole) + of_subcommands(whole) + std::string{zsh_functions};
}

}  // namespace rowlock::command
