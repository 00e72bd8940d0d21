#include "testkit/temp_folder.hpp"

#include <stdlib.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace rowlock::test {

temp_folder::temp_folder() {
  auto name = (std::filesystem::temp_directory_path() / "rowlock-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::system_error{errno, std::generic_category(), name};
  path_ = name;
}

temp_folder::~temp_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace rowlock::test
