#pragma once

#include <rowlock/error.hpp>
#include <rowlock/schema_status.hpp>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rowlock::inline v1::core {

/// A file of the schema in this library.
struct schema_file {
  int version = 0;
  std::string_view name;
  std::string_view checksum;
};

/// The database's record of a file that was run there.
struct schema_record {
  int version = 0;
  std::string checksum{};  ///< empty: run by hand
  int serves_from = 0;
  std::chrono::sys_time<duration> applied_at{};
};

/// Why a library that expects a schema cannot work with the newest one that is recorded; nullopt: it can.
std::optional<error> misfit(int recorded, int serves_from, int expected);

/// Files and records side by side, both by version; the files are numbered from 1 without a gap. The texts are left
/// empty.
schema_status compare(std::span<const schema_file> files, std::span<const schema_record> records);

/// Why migration is refused: a file was edited, one was left out, or the newest schema no longer serves this library.
std::optional<error> refusal_to_migrate(const schema_status& found);

}  // namespace rowlock::inline v1::core
