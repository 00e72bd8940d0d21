#include "command/completion.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "command/command_line.hpp"
#include "command/manual.hpp"
#include "command/option_kinds.hpp"

namespace rowlock::command {

namespace {

/// The zones of the system's list, whose third column has their names.
std::vector<std::string> time_zones() {
  std::vector<std::string> out{"UTC"};
  std::ifstream list{"/usr/share/zoneinfo/zone.tab"};
  for (std::string line; std::getline(list, line);) {
    std::string country;
    std::string place;
    std::string zone;
    if (std::istringstream{line} >> country >> place >> zone && !country.starts_with('#')) out.push_back(zone);
  }
  return out;
}

/// Collects the candidates that begin with the typed part of a word.
class candidates_for {
 public:
  explicit candidates_for(std::string_view begun) : begun_{begun} {}

  completion result() && { return std::move(found_); }

  void add_subcommands(const CLI::App& whole) {
    for (const auto* each : subcommands_of(whole)) add(each->get_name(), each->get_description());
  }

  void add_options(const CLI::App& app) {
    for (const auto* option : options_of(app)) {
      for (const auto& each : option->get_lnames()) add("--" + each, option->get_description());
      for (const auto& each : option->get_snames()) add('-' + each, option->get_description());
    }
  }

  /// `before`: "--sort=" where the value is in the same word.
  void add_values(const std::string& kind, const std::string& before) {
    if (kind == "FILE")
      found_.manner = "files " + before;
    else if (kind == "URL")
      add_databases(before);
    else if (kind == "NAME")
      add_names(before);
    else
      for (const auto& each : kind == "ZONE" ? time_zones() : words_for(kind)) add(before + each);
  }

  void add_argument(const CLI::App& whole, const CLI::App& sub, std::size_t which) {
    const auto all = sub.get_options([](const CLI::Option* each) { return each->get_positional(); });
    if (which >= all.size()) return;
    const auto name = all[which]->get_name(true);
    if (name == "SUBCOMMAND") add_subcommands(whole);
    if (name != "NAME" && name != "PREFIX") return;
    add_names({});
    found_.offers_locks = sub.get_name() != "history";
    found_.offers_jobs = sub.get_name() == "history" || sub.get_name() == "show";
  }

 private:
  void add(std::string word, std::string description = {}) {
    if (word.starts_with(begun_)) found_.candidates.push_back({std::move(word), std::move(description)});
  }

  void add_databases(const std::string& before) {
    const auto file = before + "sqlite:";
    found_.manner = begun_.starts_with(file) ? "files " + file : "beginnings";
    for (const auto* each : {"sqlite:", "postgresql://", "mysql://"}) add(before + each);
  }

  void add_names(const std::string& before) {
    found_.begun_name = begun_.substr(before.size());
    found_.before_names = before;
  }

  std::string_view begun_;
  completion found_{};
};

completion complete_word(const CLI::App& whole, const command_line& line, std::string_view begun) {
  candidates_for found{begun};
  if (line.open_option != nullptr) {
    found.add_values(line.open_option->get_type_name(), {});
  } else if (begun.starts_with("--") && begun.find('=') != std::string_view::npos && !line.has_ended_options) {
    const std::string before{begun.substr(0, begun.find('=') + 1)};
    const auto* const option = find_option(*line.app, before.substr(0, before.size() - 1));
    if (option != nullptr) found.add_values(option->get_type_name(), before);
  } else if (begun.starts_with('-') && !line.has_ended_options) {
    found.add_options(*line.app);
  } else if (!line.has_subcommand()) {
    found.add_subcommands(whole);
  } else {
    found.add_argument(whole, *line.app, line.arguments);
  }
  return std::move(found).result();
}

bool is_command_next(const command_line& line, std::string_view begun) {
  const bool may_be_option = begun.starts_with('-') && !line.has_ended_options;
  return line.is_in_command || (line.takes_command_next() && !may_be_option);
}

}  // namespace

completion complete(const CLI::App& whole, std::span<const char* const> words) try {
  if (words.size() < 2) return {.manner = "nothing"};
  const auto line = part(whole, words.first(words.size() - 1));
  if (is_command_next(line, words.back()))
    return {.manner = "command " + std::to_string(words.size() - 1 - line.command.size())};
  return complete_word(whole, line, words.back());
} catch (const usage_error&) {
  return {.manner = "nothing"};
}

std::string_view completion_for(std::string_view shell) {
  // Bash also splits words at : = @, so the script joins them again; of the last word bash replaces only the part after
  // $before. The name of a lock may contain any character: names are compared and quoted, never expanded.
  if (shell == "bash")
    return R"bash(# Completion of rowlock for bash, by: rowlock help --completion bash
_rowlock() {
    local IFS=$' \t\n' line=${COMP_LINE-} before='' words=() word i manner text current candidate quote=''
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
    [[ ${words[-1]} != [\"\']* ]] || quote=${words[-1]:0:1}
    words=("${words[@]//\\/}")
    words=("${words[@]#[\"\']}")
    words=("${words[@]%[\"\']}")
    current=${words[-1]}
    COMPREPLY=()
    {
        read -r manner text
        case $manner in
        files)
            mapfile -t COMPREPLY < <(compgen -f -P "$text" -- "${current#"$text"}")
            COMPREPLY=("${COMPREPLY[@]#"$before"}")
            [[ $text != "$before" ]] || compopt -o filenames 2>/dev/null
            ;;
        command)
            if ((text == ${#words[@]} - 1)); then text=-c; else text=-f; compopt -o filenames 2>/dev/null; fi
            mapfile -t COMPREPLY < <(compgen "$text" -- "$current")
            ;;
        words | beginnings)
            [[ $manner == words ]] || compopt -o nospace 2>/dev/null
            while IFS=$'\t' read -r candidate _; do
                case $quote in
                \") # in which bash would also look for a command of its history
                    [[ $candidate != *!* ]] || continue
                    candidate=${candidate//\\/\\\\}
                    candidate=${candidate//\"/\\\"}
                    candidate=${candidate//\$/\\\$}
                    candidate=${candidate//\`/\\\`}
                    ;;
                \') candidate=${candidate//\'/\'\\\'\'} ;;
                *) printf -v candidate %q "$candidate" ;;
                esac
                COMPREPLY+=("${candidate#"$before"}")
            done
            ;;
        esac
    } < <(command "${words[0]}" __complete "${words[@]:1}" 2>/dev/null </dev/null)
}
complete -F _rowlock rowlock
)bash";
  if (shell == "zsh")
    return R"zsh(#compdef rowlock
# Completion of rowlock for zsh, by: rowlock help --completion zsh
_rowlock() {
    local line
    local -a typed=("${(@Q)words[1,CURRENT-1]}") answer manner candidates suffix
    answer=("${(@f)$(command "$typed[1]" __complete "${(@)typed[2,-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}")
    manner=("${(@s: :)answer[1]}")
    case $manner[1] in
    words | beginnings)
        for line in "${(@)answer[2,-1]}"; do
            line=${${line//\\/\\\\}//:/\\:}
            candidates+=("${line/$'\t'/:}")
        done
        [[ $manner[1] == words ]] || suffix=(-S '')
        _describe rowlock candidates "$suffix[@]"
        ;;
    files)
        compset -p ${#manner[2]}
        _files
        ;;
    command)
        shift $manner[2] words
        ((CURRENT -= manner[2]))
        _normal
        ;;
    esac
}

if [[ $funcstack[1] == _rowlock ]]; then
    _rowlock "$@"
else
    compdef _rowlock rowlock
fi
)zsh";
  return R"fish(# Completion of rowlock for fish, by: rowlock help --completion fish
function __rowlock_complete
    set -l words (commandline -opc)
    set -l begun (commandline -ct)
    set -l answer (command $words[1] __complete $words[2..] (string unescape -- "$begun") 2>/dev/null </dev/null)
    set -l manner (string split -m 1 ' ' -- $answer[1])
    switch "$manner[1]"
        case words beginnings
            string join \n -- $answer[2..]
        case files
            set -l begin (math (string length -- "$manner[2]") + 1)
            string join \n -- "$manner[2]"(complete -C "'' "(string sub -s $begin -- "$begun"))
        case command
            complete -C (string join ' ' -- (string escape -- $words[(math $manner[2] + 1)..]) "$begun")
    end
end
complete -c rowlock -f -a '(__rowlock_complete)'
)fish";
}

}  // namespace rowlock::command
