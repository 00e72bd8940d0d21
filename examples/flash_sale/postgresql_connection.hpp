#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace flash_sale {

/// Throws std::invalid_argument, without the URL's password, where libpq cannot read it.
void check_postgresql_url(const std::string& url);

/// One connection by libpqxx, for one thread at a time. Every call is a transaction of its own. Throws
/// std::runtime_error with what the server said.
class postgresql_connection {
 public:
  explicit postgresql_connection(const std::string& url);
  postgresql_connection(const postgresql_connection&) = delete;
  postgresql_connection& operator=(const postgresql_connection&) = delete;
  ~postgresql_connection();

  /// Runs statements whose rows nobody wants; all or nothing.
  void execute(const std::string& sql);
  /// The number in the only row. Throws where there is none.
  std::int64_t number(const std::string& sql);
  /// How many rows it changed.
  std::size_t change(const std::string& sql);

 private:
  class implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace flash_sale
