#include <string_view>

#include "command/completion.hpp"
#include "command/manual.hpp"

namespace rowlock::command {

namespace {

// The names of locks are anybody's: they are compared and quoted, never expanded, as compgen -W would.
constexpr std::string_view bash_functions = R"bash(
# Bash parts words at these characters too. They are put together again, up to the one that is completed, in words;
# of that one, bash replaces only what is behind $before.
_rowlock_join() {
    local line=${COMP_LINE-} i word
    words=()
    for ((i = 0; i <= COMP_CWORD; ++i)); do
        word=${COMP_WORDS[i]}
        if ((i > 0)) && [[ $line != [[:blank:]]* && (${words[-1]} == *[:=@] || $word == [:=@]*) ]]; then
            before=${words[-1]}
            words[-1]+=$word
        else
            before=
            words+=("$word")
        fi
        line=${line#"${line%%[![:blank:]]*}"}
        line=${line#"$word"}
    done
    [[ $word != [:=@]* ]] || before=${words[-1]}
}

# Which of these begin like the current word.
_rowlock_offer() {
    local each
    for each; do
        [[ $each != "$current"* ]] || COMPREPLY+=("${each#"$before"}")
    done
}

_rowlock_offer_files() {
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
}

# Behind "sqlite:" there is a file. Bash replaces only what is behind the colon, where it parts words at it.
_rowlock_offer_databases() {
    local IFS=$'\n' files
    if [[ $current == sqlite:* ]]; then
        mapfile -t files < <(compgen -f -- "${current#sqlite:}")
        [[ $before != *sqlite: ]] || compopt -o filenames 2>/dev/null
        _rowlock_offer "${files[@]/#/sqlite:}"
    else
        compopt -o nospace 2>/dev/null
        _rowlock_offer sqlite: postgresql:// mysql://
    fi
}

# The same for names, which may need quotes; nothing where no database is given, or it does not answer.
_rowlock_offer_names() {
    local line name plain=${current//\\/} quote=
    [[ $current != [\"\']* ]] || quote=${current:0:1} plain=${current:1}
    while IFS= read -r line; do
        name=${line%%  *}
        [[ $name == "$plain"* && $name != *\\* ]] || continue
        [[ $quote ]] || printf -v name %q "$name"
        COMPREPLY+=("${name#"$before"}")
    done < <(timeout 2 "${words[0]}" "${database[@]}" list </dev/null 2>/dev/null | tail -n +2)
}

_rowlock_offer_command() {
    if ((i < ${#words[@]} - 1)); then
        _rowlock_offer_files
    else
        mapfile -t COMPREPLY < <(compgen -A command -- "$current")
    fi
}

_rowlock() {
    local IFS=$' \t\n' words before current option subcommand='' positionals=0 ended='' i database=()
    COMPREPLY=()
    _rowlock_join
    current=${words[-1]}
    for ((i = 1; i < ${#words[@]} - 1; ++i)); do
        case $ended${words[i]} in
        --) ended=ended ;;
        --database=* | --table-prefix=*) database+=("${words[i]}") ;;
        --*=*) ;;
        -*)
            option=${words[i]}
            [[ $(_rowlock_value "$option") ]] || continue
            if ((++i == ${#words[@]} - 1)); then
                _rowlock_offer_value "$option"
                return
            fi
            [[ $option != --database && $option != --table-prefix ]] || database+=("$option" "${words[i]}")
            ;;
        *)
            if [[ $subcommand == @(run|lead) && $positionals == 1 ]]; then
                [[ ${words[i]} != -- ]] || ((++i))
                _rowlock_offer_command
                return
            fi
            if [[ $subcommand ]]; then ((++positionals)); else subcommand=${words[i]}; fi
            ;;
        esac
    done
    if [[ $ended$current == --*=* ]]; then
        option=${current%%=*} current=${current#*=}
        before=${before#"$option"}
        before=${before#=}
        _rowlock_offer_value "$option"
    elif [[ $ended$current == -* ]]; then
        _rowlock_offer $(_rowlock_options "$subcommand")
    elif [[ ! $subcommand || ($subcommand == help && $positionals == 0) ]]; then
        _rowlock_offer $(_rowlock_subcommands)
    elif [[ $subcommand == @(show|waiters|release) && $positionals == 0 ]]; then
        _rowlock_offer_names
    elif [[ $subcommand == @(run|lead) && $positionals == 1 ]]; then
        _rowlock_offer_command
    fi
}

_rowlock_offer_value() {
    local kind=$(_rowlock_value "$1")
    case $kind in
    URL) _rowlock_offer_databases ;;
    FILE) _rowlock_offer_files ;;
    *) _rowlock_offer $(_rowlock_values_of "$kind") ;;
    esac
}

complete -F _rowlock rowlock
)bash";

std::string all_flags_of(const CLI::App& app) {
  std::string out;
  for (const auto* option : options_of(app))
    for (const auto& flag : flags_of(*option)) out += ' ' + flag;
  return out;
}

/// A function that prints the words, one line of them.
std::string answer(const std::string& name, const std::string& words) {
  return '\n' + name + "() { echo" + words + "; }\n";
}

std::string options_by_subcommand(const CLI::App& whole) {
  std::string out =
      "\n# Those of a subcommand; of the whole where there is none.\n_rowlock_options() {\n    case $1 in\n";
  for (const auto* sub : subcommands_of(whole))
    out += "    " + sub->get_name() + ") echo" + all_flags_of(*sub) + all_flags_of(whole) + " ;;\n";
  return out + "    *) echo" + all_flags_of(whole) + " ;;\n    esac\n}\n";
}

std::string values_of(const CLI::App& app) {
  std::string out;
  for (const auto* option : options_of(app))
    for (const auto& flag : flags_of(*option))
      if (const auto value = option->get_type_name(); !value.empty())
        out.append("    ").append(flag).append(") echo ").append(value).append(" ;;\n");
  return out;
}

std::string values_by_kind() {
  std::string out = "\n# The values of a kind, where they can be listed.\n_rowlock_values_of() {\n    case $1 in\n";
  for (const std::string_view kind : listed_kinds) {
    out.append("    ").append(kind).append(") echo");
    for (const auto& value : values_of_kind(kind)) out += ' ' + value;
    out += " ;;\n";
  }
  return out + "    esac\n}\n";
}

std::string values_by_option(const CLI::App& whole) {
  std::string out =
      "\n# What kind of value an option takes; nothing where it takes none.\n_rowlock_value() {\n    case $1 in\n";
  for (const auto* sub : subcommands_of(whole)) out += values_of(*sub);
  return out + values_of(whole) + "    esac\n}\n";
}

}  // namespace

std::string bash_completion(const CLI::App& whole) {
  std::string subcommands;
  for (const auto* sub : subcommands_of(whole)) subcommands += ' ' + sub->get_name();
  return "# Completion of rowlock for bash, by: rowlock help --completion bash\n" +
         answer("_rowlock_subcommands", subcommands) + options_by_subcommand(whole) + values_by_option(whole) +
         values_by_kind() + std::string{bash_functions};
}

}  // namespace rowlock::command
