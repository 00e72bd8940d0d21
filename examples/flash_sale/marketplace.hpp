#pragma once

#include <optional>
#include <string>

#include "shop.hpp"
#include "temporary_folder.hpp"

namespace flash_sale {

/// Where it is sold: in a database that was given, or in a file that is gone with this object.
class marketplace {
 public:
  explicit marketplace(const std::optional<std::string>& database_url) {
    if (!database_url) folder_.emplace();
    where_ = parse_database(database_url ? *database_url : sqlite_url((folder_->path() / "shop.db").string()));
  }

  const database& where() const noexcept { return where_; }

 private:
  std::optional<temporary_folder> folder_;
  database where_;
};

}  // namespace flash_sale
