#include "driver/session.hpp"

#include <rowlock/error.hpp>

#include "driver/backend.hpp"

namespace rowlock::inline v1::driver {

std::int64_t integer(const cell& c) { return std::get<std::int64_t>(c); }

std::optional<std::int64_t> maybe_integer(const cell& c) {
  const auto* value = std::get_if<std::int64_t>(&c);
  return value ? std::optional{*value} : std::nullopt;
}

bool is_about_one_row(std::span<const request> batch) noexcept {
  return std::all_of(batch.begin(), batch.end(), [&](const request& each) { return each[0] == batch[0][0]; });
}

std::string text(const cell& c) {
  const auto* value = std::get_if<std::string>(&c);
  return value ? *value : std::string{};
}

namespace {

[[noreturn]] void refuse_transactions() {
  throw error{errc::unsupported, "SQLite locks whole files, so a transaction cannot keep a single row locked"};
}

const char* name_of(detail::backend kind) noexcept {
  switch (kind) {
    case detail::backend::postgresql:
      return "PostgreSQL";
    case detail::backend::mysql:
      return "MySQL or MariaDB";
    default:
      return "SQLite";
  }
}

}  // namespace

void require_kind(const caller_transaction& tx, detail::backend kind) {
  if (tx.kind() == kind) return;
  throw error{errc::wrong_transaction_state, std::string{"the transaction is on "} + name_of(tx.kind()) +
                                                 ", but the client is connected to " + name_of(kind) +
                                                 "; use a client of the transaction's database"};
}

std::vector<row> session::run(const sheets::step& what, std::span<const request> batch, const limits& until) {
  const timed scope{times_, what.verb};
  return do_run(what, batch, until);
}

std::vector<row> session::run_dirty(const sheets::step& what, const request& one, const limits& until) {
  const timed scope{times_, what.verb};
  return do_run_dirty(what, one, until);
}

void session::begin(const limits& until) {
  const timed scope{times_, chore::beginning};
  do_begin(until);
}

void session::commit(const limits& until) {
  const timed scope{times_, chore::committing};
  do_commit(until);
}

void session::commit_and_tell(const sheets::step& next, const request& of, const limits& until) {
  const timed scope{times_, chore::committing};
  do_commit_and_tell(next, of, until);
}

void session::rollback(const limits& until) {
  const timed scope{times_, chore::rolling_back};
  do_rollback(until);
}

void session::script(const std::string& sql) {
  const timed scope{times_, chore::scripting};
  do_script(sql);
}

std::int64_t session::change_count(const limits& until) {
  const timed scope{times_, chore::looking_for_changes};
  return do_change_count(until);
}

std::vector<row> session::do_run_dirty(const sheets::step& /*what*/, const request& /*one*/, const limits& /*until*/) {
  throw error{errc::unsupported, "this database shows only committed rows"};
}

void session::do_begin(const limits& /*until*/) { refuse_transactions(); }
void session::do_commit(const limits& /*until*/) { refuse_transactions(); }
void session::do_commit_and_tell(const sheets::step& /*next*/, const request& /*of*/, const limits& until) {
  do_commit(until);
}
void session::do_rollback(const limits& /*until*/) { refuse_transactions(); }

std::unique_ptr<session> database::connect_to_hold(const limits& /*until*/) { refuse_transactions(); }

void database::end_session(const sheets::sheet& /*sql*/, session& /*on*/, std::string_view /*name*/,
                           std::int64_t /*number*/, const limits& /*until*/) {
  refuse_transactions();
}

std::unique_ptr<listener> database::listen(const std::string& /*owner*/, const limits& /*until*/) {
  throw error{errc::unsupported, "this database cannot notify clients"};
}

}  // namespace rowlock::inline v1::driver
