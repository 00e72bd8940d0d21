#include "command/completion.hpp"

#include "command/completion_words.hpp"

namespace rowlock::command {

std::optional<std::string> completion_for(std::string_view shell, const CLI::App& whole) {
  if (shell == "bash") return bash_completion(whole);
  if (shell == "zsh") return zsh_completion(whole);
  if (shell == "fish") return fish_completion(whole);
  return std::nullopt;
}

}  // namespace rowlock::command
