#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/postgresql/libpqxx.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// Where the next $n is, at `from` or later. npos: there is none.
inline std::size_t next_parameter(std::string_view sql, std::size_t from = 0) noexcept {
  return sheets::find_parameter(sql, '$', '"', from);
}

/// The highest n of all $n in the text.
std::size_t parameters_in(std::string_view sql);

/// Makes `to` the text of one parameter; false: it is NULL.
bool write_scalar(std::string& to, const argument& value);

/// Makes `to` an array of every request's argument at that place, as PostgreSQL reads arrays.
void write_array(std::string& to, std::span<const request> batch, std::size_t place);

/// Integers and booleans become numbers, NULL remains NULL, all other values become text.
void append_rows(std::vector<row>& to, const pqxx::result& from);

}  // namespace rowlock::inline v1::driver
