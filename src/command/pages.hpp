#pragma once

#include <span>
#include <string_view>

namespace rowlock::command {

/// What --help says of the command or of one of its subcommands, beside its options.
struct page {
  struct section {
    std::string_view title;
    std::string_view text;  ///< paragraphs are filled; a line that begins with a space is left as it is
  };
  std::string_view name;
  std::string_view synopsis;
  std::string_view summary;
  std::span<const section> before_options;
  std::span<const section> behind_options;
};

/// "rowlock" or the name of a subcommand.
const page& page_of(std::string_view name);

}  // namespace rowlock::command
