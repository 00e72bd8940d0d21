#include "support/database.hpp"

#include <exception>
#include <iostream>
#include <utility>

namespace rowlock::test {

namespace {

class undone_obstacle : public obstacle {
 public:
  explicit undone_obstacle(std::function<void()> end) : end_{std::move(end)} {}
  ~undone_obstacle() override {
    try {
      end_();
    } catch (const std::exception& e) {
      std::cerr << "something that was in the way: " << e.what() << '\n';
    }
  }

 private:
  std::function<void()> end_;
};

std::optional<std::int64_t> integer(const std::optional<std::string>& text) {
  return text ? std::optional<std::int64_t>{std::stoll(*text)} : std::nullopt;
}

std::string of_version(int version) { return " WHERE version = " + std::to_string(version); }

}  // namespace

std::unique_ptr<obstacle> obstacle_until(std::function<void()> end) {
  return std::make_unique<undone_obstacle>(std::move(end));
}

std::optional<lock_row> database::row(std::string_view name) {
  const auto found = ask("SELECT version, owner, thread, acquisition, " + microseconds("acquired_at") + ", " +
                         microseconds("expires_at") + ", note FROM rowlock_lock WHERE name = " + quoted(name));
  if (found.empty()) return std::nullopt;
  const auto& one = found[0];
  return lock_row{.version = std::stoll(one.at(0).value()),
                  .owner = one.at(1),
                  .thread = one.at(2),
                  .acquisition = one.at(3),
                  .acquired_at = integer(one.at(4)),
                  .expires_at = integer(one.at(5)),
                  .note = one.at(6)};
}

void database::change(std::string_view name, const std::string& assignments) {
  execute("UPDATE rowlock_lock SET " + assignments + " WHERE name = " + quoted(name));
}

void database::vacate(std::string_view name) {
  change(name, "owner = NULL, thread = NULL, version = version + 1, expires_at = " + clock());
}

void database::steal(std::string_view name) {
  change(name, "owner = 'thief:elsewhere:1:1', thread = 'thief', version = version + 1, acquisition = " + random_id() +
                   ", acquired_at = " + clock() + ", expires_at = " + in_an_hour());
}

void database::erase(std::string_view name) { execute("DELETE FROM rowlock_lock WHERE name = " + quoted(name)); }

void database::expire(std::string_view name) { change(name, "expires_at = " + clock()); }

void database::set_version(std::string_view name, std::int64_t version) {
  change(name, "version = " + std::to_string(version));
}

void database::age(std::string_view name, std::chrono::seconds by) {
  change(name, "version = version - " + std::to_string(std::chrono::microseconds{by}.count()) +
                   ", acquired_at = acquired_at - " + interval(by) + ", expires_at = expires_at - " + interval(by));
}

// All databases have REPLACE; they have no common operator that joins texts.
void database::add_unused(int number) {
  execute(
      "INSERT INTO rowlock_lock (name, version, expires_at) SELECT REPLACE('unused/#', '#', CAST(n AS CHAR(7))), 1, " +
      ago(std::chrono::hours{2}) + " FROM (" + std::string{a_million_numbers} + ") numbers WHERE n < " +
      std::to_string(number));
}

std::int64_t database::enqueue(std::string_view name) {
  execute("INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at) SELECT " + quoted(name) +
          ", 'sleeper:elsewhere:1:0000000000000001', 'sleeper', " + random_id() + ", " + clock() + ", " + in_an_hour());
  return number("SELECT max(ticket) FROM rowlock_waiter");
}

std::int64_t database::enqueue_set(std::string_view name, std::chrono::milliseconds waited) {
  const auto ticket = enqueue(name);
  execute("UPDATE rowlock_waiter SET room = -2, enqueued_at = enqueued_at - " + interval(waited) +
          " WHERE ticket = " + std::to_string(ticket));
  return ticket;
}

void database::erase_ticket(std::int64_t ticket) {
  execute("DELETE FROM rowlock_waiter WHERE ticket = " + std::to_string(ticket));
}

void database::kill_waiters(std::chrono::seconds ago) {
  execute("UPDATE rowlock_waiter SET expires_at = " + this->ago(ago));
}

void database::kill_share(std::int64_t token, std::chrono::seconds ago) {
  execute("UPDATE rowlock_share SET expires_at = " + this->ago(ago) + " WHERE token = " + std::to_string(token));
}

void database::raise_floor(std::int64_t version) {
  execute(
      "INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at) "
      "VALUES ('', '', '', 0, " +
      std::to_string(version) + ", '', '', " + clock() + ", " + clock() + ")");
}

std::vector<run_row> database::runs() {
  std::vector<run_row> out;
  for (const auto& each :
       ask("SELECT job, " + microseconds("period_begin") + ", attempt, token, " + microseconds("started_at") + ", " +
           microseconds("finished_at") + ", result FROM rowlock_job_run ORDER BY job, period_begin, attempt"))
    out.push_back({.job = each.at(0).value(),
                   .period_begin = std::stoll(each.at(1).value()),
                   .attempt = std::stoll(each.at(2).value()),
                   .token = std::stoll(each.at(3).value()),
                   .started_at = std::stoll(each.at(4).value()),
                   .finished_at = integer(each.at(5)),
                   .result = each.at(6)});
  return out;
}

void database::age_runs(std::chrono::hours by) {
  const auto earlier = [&](const std::string& column) { return column + " = " + column + " - " + interval(by); };
  execute("UPDATE rowlock_job_run SET " + earlier("period_begin") + ", " + earlier("period_end") + ", " +
          earlier("started_at") + ", " + earlier("finished_at"));
}

void database::let_runs_begin_earlier(std::chrono::hours by) {
  execute("UPDATE rowlock_job_run SET started_at = started_at - " + interval(by));
}

void database::drop_tables() {
  execute(
      "DROP TABLE rowlock_lock; DROP TABLE rowlock_migration; DROP TABLE IF EXISTS rowlock_waiter; "
      "DROP TABLE IF EXISTS rowlock_share; DROP TABLE IF EXISTS rowlock_edge; DROP TABLE IF EXISTS rowlock_guard; "
      "DROP TABLE IF EXISTS rowlock_witness; DROP TABLE IF EXISTS rowlock_job_run");
}

void database::record_migration(int version, int serves_from) {
  execute("INSERT INTO rowlock_migration (version, serves_from, applied_at) VALUES (" + std::to_string(version) + ", " +
          std::to_string(serves_from) + ", " + clock() + ")");
}

void database::forget_migration(int version) { execute("DELETE FROM rowlock_migration" + of_version(version)); }

void database::edit_migration(int version) {
  execute("UPDATE rowlock_migration SET checksum = 'of another text'" + of_version(version));
}

}  // namespace rowlock::test
