#pragma once

#include <rowlock/error.hpp>
#include <rowlock/schema_status.hpp>

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rowlock::inline v1::core {

/// A file of the schema that this library has.
struct schema_file {
  int version = 0;
  std::string_view name;
  std::string_view checksum;
};

/// What the database says of one that was run there.
struct schema_record {
  int version = 0;
  std::string checksum{};  ///< empty: run by hand
  int serves_from = 0;
  std::chrono::sys_time<duration> applied_at{};
};

/// What keeps a library that expects a schema from working with the newest one that is recorded; nullopt: nothing.
std::optional<error> misfit(int recorded, int serves_from, int expected);

/// Files and records side by side, both by version; the files are numbered from 1 without a gap. No texts are filled
/// in.
schema_status compare(std::span<const schema_file> files, std::span<const schema_record> records);

/// Why nothing may be migrated: a file was edited, one was left out, or the newest schema no longer serves this
/// library.
std::optional<error> refusal_to_migrate(const schema_status& found);

}  // namespace rowlock::inline v1::core
