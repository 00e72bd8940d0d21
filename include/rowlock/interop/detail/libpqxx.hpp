#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <pqxx/version>

/// Differences between the versions of libpqxx (6.4, and 7.7.1 to 8.0), for the library and for its users' programs.
/// (The library alone decides how connections are made: driver/postgresql/libpqxx.cpp.)
#define ROWLOCK_PQXX_BEFORE(major, minor) \
  (PQXX_VERSION_MAJOR < (major) || (PQXX_VERSION_MAJOR == (major) && PQXX_VERSION_MINOR < (minor)))

#include <exception>
#include <span>
#include <string>

#include <pqxx/except>
#include <pqxx/result>
#include <pqxx/transaction_base>

#if ROWLOCK_PQXX_BEFORE(7, 0)
#include <pqxx/prepared_statement>
#endif

#include <rowlock/export.hpp>

namespace rowlock::inline v1::detail {

// Named after the libpqxx that the library was built with: a program that is built with another one does not link,
// where it would crash.
#define ROWLOCK_PQXX_TAG_OF(major, minor) rowlock_was_built_with_libpqxx_##major##_##minor
#define ROWLOCK_PQXX_TAG(major, minor) ROWLOCK_PQXX_TAG_OF(major, minor)
extern "C" ROWLOCK_EXPORT const char ROWLOCK_PQXX_TAG(PQXX_VERSION_MAJOR, PQXX_VERSION_MINOR);
inline const char* libpqxx_of_library() noexcept { return &ROWLOCK_PQXX_TAG(PQXX_VERSION_MAJOR, PQXX_VERSION_MINOR); }

/// exec() of version 6 rolls the transaction back if a statement fails, so several cannot be sent together.
inline constexpr bool libpqxx_takes_several = !ROWLOCK_PQXX_BEFORE(7, 0);
/// Version 6.4 reads every answer with a static table that it makes at the first answer and destroys when the program
/// ends.
inline constexpr bool libpqxx_needs_static_objects = ROWLOCK_PQXX_BEFORE(7, 0);

template <class Exception>
bool is_a(const std::exception& e) {
  return dynamic_cast<const Exception*>(&e) != nullptr;
}

/// Returns the SQLSTATE that an exception has or implies; empty if there is none.
///
/// In 6.4 the type of some exceptions implies the SQLSTATE, and transaction_rollback is not an sql_error.
inline std::string sqlstate_of(const std::exception& e) {
  if (const auto* sql = dynamic_cast<const pqxx::sql_error*>(&e); sql != nullptr && !sql->sqlstate().empty())
    return std::string{sql->sqlstate()};
  if (is_a<pqxx::serialization_failure>(e)) return "40001";
  if (is_a<pqxx::deadlock_detected>(e)) return "40P01";
  if (is_a<pqxx::statement_completion_unknown>(e)) return "40003";
  if (is_a<pqxx::insufficient_privilege>(e)) return "42501";
  return {};
}

/// Text without NUL, or nullptr for NULL.
using postgresql_values = std::span<const char* const>;

#if ROWLOCK_PQXX_BEFORE(7, 0)
inline auto as_parameters(postgresql_values values) {
  return pqxx::prepare::make_dynamic_params(values.begin(), values.end());
}
#else

inline pqxx::params as_parameters(postgresql_values values) {
  pqxx::params out;
  out.reserve(values.size());
  for (const char* value : values) {
    if (value == nullptr) {
      out.append();
    } else {
      out.append(pqxx::zview{value});
    }
  }
  return out;
}
#endif

#if ROWLOCK_PQXX_BEFORE(7, 10)
inline pqxx::result execute_with(pqxx::transaction_base& tx, const std::string& sql, postgresql_values values) {
  return tx.exec_params(sql, as_parameters(values));
}
inline pqxx::result execute_prepared(pqxx::transaction_base& tx, const std::string& name, postgresql_values values) {
  return tx.exec_prepared(name, as_parameters(values));
}
#else
inline pqxx::result execute_with(pqxx::transaction_base& tx, const std::string& sql, postgresql_values values) {
  return tx.exec(sql, as_parameters(values));
}
inline pqxx::result execute_prepared(pqxx::transaction_base& tx, const std::string& name, postgresql_values values) {
  return tx.exec(pqxx::prepped{name}, as_parameters(values));
}
#endif

}  // namespace rowlock::inline v1::detail

#endif  // ROWLOCK_BEFORE_CXX20
