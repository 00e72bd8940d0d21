#pragma once

#include <rowlock/export.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

enum class mysql_kind : std::uint8_t { mysql, mariadb };

/// A text with ?1, ?2, … in the form that a server reads: with a plain ? in their place, and without the parts for the
/// other kind of server. (Both servers would ignore those parts, but not the ? in them.) `place` is written before each
/// table's name.
struct mysql_text {
  std::string numbered;  ///< still with ?1, ?2, …
  std::string sql;
  std::vector<std::size_t> arguments;  ///< the argument of each ?, counted from 0
};
ROWLOCK_EXPORT mysql_text for_server(std::string_view text, mysql_kind kind, std::string_view place = {});

/// The requests as JSON: an array of arrays, each with the arguments of one request.
std::string json_of(std::span<const request> batch);

/// A text with ?1, ?2, … in which the arguments themselves replace these: text by its bytes, whatever the session's
/// character set is.
std::string with_literals(std::string_view text, std::span<const argument> arguments);

/// The number of statements in a text that has ";\n" between them.
std::size_t count_of_statements(std::string_view text);

/// The statements of a script, without the comments between them. A statement ends with a semicolon at the end of a
/// line.
std::vector<std::string> statements_of(std::string_view script);

}  // namespace rowlock::inline v1::driver
