#include "shop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#ifdef ROWLOCK_WITH_MYSQL
#include "mysql_shop.hpp"
#include "mysql_url.hpp"
#endif
#include "percent_decoding.hpp"
#ifdef ROWLOCK_WITH_POSTGRESQL
#include "postgresql_connection.hpp"
#include "postgresql_shop.hpp"
#endif
#ifdef ROWLOCK_WITH_SQLITE
#include "sqlite_shop.hpp"
#endif

namespace flash_sale {
namespace {

constexpr std::string_view sqlite_scheme = "sqlite:";

#ifdef ROWLOCK_WITH_SQLITE
std::string sqlite_path(const std::string& url) {
  auto path = std::string_view{url}.substr(sqlite_scheme.size());
  if (path.starts_with("///")) path.remove_prefix(2);
  if (path.starts_with("//")) throw std::invalid_argument{"an sqlite: URL names no host: write --database sqlite:PATH"};
  if (path.empty()) throw std::invalid_argument{"the path is missing: write --database sqlite:PATH"};
  if (path.starts_with(':'))
    throw std::invalid_argument{"several processes cannot share a database in memory: write --database sqlite:PATH"};
  if (path.find_first_of("?#") != std::string_view::npos)
    throw std::invalid_argument{fmt::format("\"{}\": percent-encode '?' and '#' in a path", path)};
  const auto decoded = percent_decoded(path);
  if (!decoded)
    throw std::invalid_argument{fmt::format("\"{}\": '%' must be followed by two hex digits, not 00", path)};
  return *decoded;
}
#endif

/// One kind of database.
struct backend {
  std::string_view scheme;
  std::string_view other_scheme;
  std::string_view form;
  database (*parse)(const std::string& url);
  std::unique_ptr<shop> (*open)(const std::string& url);

  bool is_for(std::string_view url) const {
    const auto given = url.substr(0, url.find(':') + 1);
    return given == scheme || given == other_scheme;
  }
};

constexpr std::array backends{
#ifdef ROWLOCK_WITH_SQLITE
    backend{sqlite_scheme, sqlite_scheme, "sqlite:PATH",
            [](const std::string& url) -> database {
              (void)sqlite_path(url);
              // A write transaction of the application would hold up every renewal in the same file.
              return {.shop_url = url, .locks_url = url + "-locks"};
            },
            [](const std::string& url) -> std::unique_ptr<shop> {
              return std::make_unique<sqlite_shop>(sqlite_path(url));
            }},
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
    backend{"postgresql:", "postgres:", "postgresql://USER:PASSWORD@HOST:PORT/DATABASE",
            [](const std::string& url) -> database {
              check_postgresql_url(url);
              return {.shop_url = url, .locks_url = url};
            },
            open_postgresql_shop},
#endif
#ifdef ROWLOCK_WITH_MYSQL
    backend{"mysql:", "mariadb:", "mysql://USER:PASSWORD@HOST:PORT/DATABASE",
            [](const std::string& url) -> database {
              (void)parse_mysql_url(url);
              return {.shop_url = url, .locks_url = url};
            },
            open_mysql_shop},
#endif
};

/// Only the scheme is repeated: the rest may hold a password.
[[noreturn]] void refuse_scheme(const std::string& url) {
  const auto colon = url.find(':');
  throw std::invalid_argument{fmt::format("{} is no database that this build sells from; write --database {}",
                                          colon == std::string::npos ? "that" : url.substr(0, colon + 1),
                                          database_forms())};
}

const backend& backend_for(const std::string& url) {
  const auto* const found =
      std::find_if(backends.begin(), backends.end(), [&](const auto& each) { return each.is_for(url); });
  if (found == backends.end()) refuse_scheme(url);
  return *found;
}

}  // namespace

std::string database_forms() {
  std::string all;
  for (const auto& each : backends) all.append(all.empty() ? "" : "|").append(each.form);
  return all;
}

database parse_database(const std::string& url) { return backend_for(url).parse(url); }

std::unique_ptr<shop> open_shop(const std::string& url) { return backend_for(url).open(url); }

std::string sqlite_url(std::string_view path) {
  std::string url{sqlite_scheme};
  for (const char each : path) {
    if (each == '?' || each == '#' || each == '%')
      url += fmt::format("%{:02X}", static_cast<unsigned char>(each));
    else
      url += each;
  }
  return url;
}

}  // namespace flash_sale
