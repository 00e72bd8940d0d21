#include "temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace flash_sale {

temporary_folder::temporary_folder() {
  std::string name = std::filesystem::temp_directory_path() / "flash_sale.XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw std::system_error{errno, std::generic_category(), name};
  path_ = name;
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace flash_sale
