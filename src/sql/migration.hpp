#pragma once

#include <rowlock/export.hpp>

#include <span>
#include <string_view>

namespace rowlock::inline v1::sheets {

/// One file of schema/<database>/, embedded when the library is built.
struct migration {
  int version = 0;
  std::string_view name;
  std::string_view sha256;
  std::string_view text;
};

/// The number of the newest file, which is the schema that a library with these expects.
constexpr int newest(std::span<const migration> files) noexcept { return files.empty() ? 0 : files.back().version; }

std::span<const migration> sqlite_migrations();
std::span<const migration> postgresql_migrations();
std::span<const migration> mysql_migrations();

}  // namespace rowlock::inline v1::sheets
