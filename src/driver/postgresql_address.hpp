#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/url.hpp"
#include "driver/libpqxx.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// Where a database is and how it is spoken to: what a URL says, as libpq reads it, and what we add to it.
class postgresql_address {
 public:
  /// Throws error{errc::invalid_url}, which repeats nothing of the URL: it may hold a password.
  postgresql_address(const core::url& url, const std::string& application_name);

  /// A connection that is authenticated, close-on-exec and verbose in its errors. Of several hosts each is given its
  /// share of the time that is left.
  postgresql_handle connect(const limits& until) const;

 private:
  using settings = std::map<std::string, std::string>;  // by libpq's keywords

  bool has_several_hosts() const;
  std::vector<settings> hosts() const;

  settings settings_;
};

}  // namespace rowlock::inline v1::driver
