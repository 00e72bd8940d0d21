#pragma once

#include <rowlock/options.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/url.hpp"
#include "dialect/dialect.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// One database that can be connected to.
class database {
 public:
  database() = default;
  database(const database&) = delete;
  database& operator=(const database&) = delete;
  virtual ~database() = default;

  virtual std::unique_ptr<session> connect(const limits& until) = 0;
  /// More sessions than this are of no use.
  virtual std::size_t most_sessions() const noexcept = 0;
  /// Whether session::change_count tells of other processes' commits.
  virtual bool can_be_watched() const noexcept = 0;
};

/// What went well, but not as well as it could.
using warn = std::function<void(const std::string& sentence)>;

/// One kind of database. Differences between databases are data, here and in the dialect.
struct backend {
  std::string_view scheme;
  dialect::table (*dialect)(std::string_view prefix);
  std::span<const dialect::migration> (*migrations)();
  /// Throws error{errc::invalid_url}; opens nothing yet.
  std::unique_ptr<database> (*open)(const core::url& address, warn warning);
};

/// Throws unsupported for a scheme whose backend is not linked in, invalid_url for one that rowlock does not know.
const backend& backend_for(std::string_view scheme);

}  // namespace rowlock::inline v1::driver
