#include "command/completion.hpp"

#include "command/options.hpp"

namespace rowlock::command {

std::vector<std::string> flags_of(const CLI::Option& o) {
  std::vector<std::string> out;
  for (const auto& each : o.get_lnames()) out.push_back("--" + each);
  for (const auto& each : o.get_snames()) out.push_back("-" + each);
  return out;
}

std::vector<std::string> values_of_kind(std::string_view kind) {
  std::vector<std::string> out;
  if (kind == "STRATEGY")
    for (const auto each : all_strategies) out.emplace_back(to_string(each));
  if (kind == "SHELL") out.assign(std::begin(shells), std::end(shells));
  if (kind == "KEY")
    for (const auto& each : top_orders) out.emplace_back(each.name);
  return out;
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) c == '\'' ? out += "'\\''" : out += c;
  return out += '\'';
}

std::optional<std::string> completion_for(std::string_view shell, const CLI::App& whole) {
  if (shell == "bash") return bash_completion(whole);
  if (shell == "zsh") return zsh_completion(whole);
  if (shell == "fish") return fish_completion(whole);
  return std::nullopt;
}

}  // namespace rowlock::command
