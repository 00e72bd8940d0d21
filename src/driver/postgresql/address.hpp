#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/url.hpp"

namespace rowlock::inline v1::driver {

/// Where a database is and how to connect to it: the URL as libpq reads it, and rowlock's own settings.
class postgresql_address {
 public:
  /// Throws error{errc::invalid_url}, whose message repeats nothing of the URL but an option's name: the URL may
  /// contain a password.
  postgresql_address(const core::url& url, const std::string& application_name);

  using settings = std::map<std::string, std::string>;  // by libpq's keywords

  /// The settings for each host, in order. One by one, since PQconnectPoll leaves the time for each host to its caller.
  std::vector<settings> hosts() const;

 private:
  bool has_several_hosts() const;

  settings settings_;
};

}  // namespace rowlock::inline v1::driver
