#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <pqxx/version>

#include <exception>
#include <span>
#include <string>

#include <pqxx/except>
#include <pqxx/result>
#include <pqxx/transaction_base>

#if PQXX_VERSION_MAJOR < 7
#include <pqxx/prepared_statement>
#endif

/// Differences between the versions of libpqxx (6.4 to 8.0), for the library and for its users' programs.
namespace rowlock::inline v1::detail {

template <class Exception>
bool is_a(const std::exception& e) {
  return dynamic_cast<const Exception*>(&e) != nullptr;
}

/// Returns the SQLSTATE that an exception has or implies; empty if there is none.
///
/// In 6.4 some exceptions imply one by their type alone, and transaction_rollback is no sql_error.
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

#if PQXX_VERSION_MAJOR < 7

inline auto as_parameters(postgresql_values values) {
  return pqxx::prepare::make_dynamic_params(values.begin(), values.end());
}
inline pqxx::result execute_with(pqxx::transaction_base& tx, const std::string& sql, postgresql_values values) {
  return tx.exec_params(sql, as_parameters(values));
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
inline pqxx::result execute_with(pqxx::transaction_base& tx, const std::string& sql, postgresql_values values) {
#if PQXX_VERSION_MAJOR == 7 && PQXX_VERSION_MINOR < 10
  return tx.exec_params(sql, as_parameters(values));
#else
  return tx.exec(sql, as_parameters(values));
#endif
}

#endif

}  // namespace rowlock::inline v1::detail

#endif  // ROWLOCK_BEFORE_CXX20
