#include "support/pq_connection.hpp"

#include <stdexcept>
#include <vector>

namespace rowlock::test {

namespace {

void check(PGconn* connection, const pq_result& result, const std::string& sql) {
  const auto status = PQresultStatus(result.raw());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != PGRES_EMPTY_QUERY)
    throw std::runtime_error{sql + ": " + PQerrorMessage(connection)};
}

}  // namespace

std::optional<std::string> pq_result::text(int row, int column) const {
  if (PQgetisnull(raw(), row, column) == 1) return std::nullopt;
  return std::string{PQgetvalue(raw(), row, column), static_cast<std::size_t>(PQgetlength(raw(), row, column))};
}

std::optional<std::int64_t> pq_result::number(int row, int column) const {
  const auto found = text(row, column);
  if (!found) return std::nullopt;
  return std::stoll(*found);
}

pq_connection::pq_connection(const std::string& url) : connection_{PQconnectdb(url.c_str()), PQfinish} {
  if (PQstatus(raw()) != CONNECTION_OK) throw std::runtime_error{std::string{"PostgreSQL: "} + PQerrorMessage(raw())};
  PQsetNoticeProcessor(
      raw(), [](void*, const char*) {}, nullptr);
}

pq_result pq_connection::run(const std::string& sql, std::initializer_list<std::string_view> arguments) const {
  const std::vector<std::string> texts{arguments.begin(), arguments.end()};
  std::vector<const char*> values;
  values.reserve(texts.size());
  for (const auto& text : texts) values.push_back(text.c_str());
  pq_result result{
      PQexecParams(raw(), sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr, 0)};
  check(raw(), result, sql);
  return result;
}

void pq_connection::run_script(const std::string& sql) const {
  check(raw(), pq_result{PQexec(raw(), sql.c_str())}, sql);
}

}  // namespace rowlock::test
