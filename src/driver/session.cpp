#include "driver/session.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/url.hpp"
#include "driver/backend.hpp"
#include "driver/enlisted_transaction.hpp"
#include "driver/passages.hpp"

namespace rowlock::inline v1::driver {

const char* doing(chore c) noexcept {
  switch (c) {
    case chore::connecting:
      return "connecting";
    case chore::beginning:
      return "beginning a transaction";
    case chore::committing:
      return "committing";
    case chore::rolling_back:
      return "rolling back";
    case chore::looking_for_changes:
      return "looking for changes";
    case chore::ending_sessions:
      return "ending a lost session";
    case chore::waking:
      return "waking the next waiter";
    default:
      return "migrating";
  }
}

namespace {

void add(std::vector<statement_statistics>& to, std::string_view operation, const histogram& took) {
  if (base::total(took) == 0) return;
  auto found = std::find_if(to.begin(), to.end(), [&](const auto& each) { return each.operation == operation; });
  if (found == to.end()) found = to.insert(to.end(), {.operation = std::string{operation}});
  base::add(found->took, took);
}

}  // namespace

// A step that is none of a table's verbs ends a session.
void call_times::add(sheets::verb v, std::chrono::nanoseconds took) noexcept {
  const auto at = static_cast<std::size_t>(v);
  at < verbs_.size() ? verbs_.at(at).add(took) : add(chore::ending_sessions, took);
}

void call_times::add(chore c, std::chrono::nanoseconds took) noexcept {
  chores_.at(static_cast<std::size_t>(c)).add(took);
}

std::vector<statement_statistics> call_times::read() const {
  std::vector<statement_statistics> out;
  for (std::size_t i = 0; i < verbs_.size(); ++i)
    driver::add(out, sheets::doing(static_cast<sheets::verb>(i)), verbs_.at(i).read());
  for (std::size_t i = 0; i < chores_.size(); ++i) driver::add(out, doing(static_cast<chore>(i)), chores_.at(i).read());
  return out;
}

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

std::int64_t session::do_change_count(const limits& /*until*/) {
  throw error{errc::unsupported, "this database does not count the commits of other sessions"};
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

std::vector<sheets::passage> passages_for(std::string_view url, const client_options& with) {
  const auto scheme = core::cut_url(url).scheme;
  return backend_for(scheme).passages(scheme, {.table_prefix = with.table_prefix,
                                               .transaction_pooling = with.transaction_pooling,
                                               .durable_release = with.durable_release});
}

std::optional<std::int64_t> number(const cell& c) {
  const auto* words = std::get_if<std::string>(&c);
  if (words == nullptr) return maybe_integer(c);
  std::int64_t out = 0;
  const auto [end, failure] = std::from_chars(words->data(), words->data() + words->size(), out);
  return failure == std::errc{} ? std::optional{out} : std::nullopt;
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back(digits[byte >> 4U]);
    out.push_back(digits[byte & 15U]);
  }
  return out;
}

}  // namespace rowlock::inline v1::driver
