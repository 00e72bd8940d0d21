#pragma once

#include <rowlock/duration.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace rowlock::command {

using table_line = std::vector<std::string>;

/// In columns. All lines have as many fields as the first.
void write_table(std::ostream& out, const std::vector<table_line>& lines);

/// "-" where it is empty.
std::string or_dash(const std::string& text);

/// What programs read. The keys keep the order in which they are written down.
using json = nlohmann::ordered_json;

/// null where there is none.
json microseconds(const std::optional<duration>& d);
/// null where it is empty.
json or_null(const std::string& text);

/// As it is printed, with the end of its last line. What is not UTF-8 in it, as a server may call its sessions, is
/// replaced.
std::string text_of(const json& what);
/// To standard output.
void print(const json& what);

}  // namespace rowlock::command
