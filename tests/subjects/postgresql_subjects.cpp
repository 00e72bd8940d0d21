#include <exception>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "subjects/subject.hpp"
#include "support/pq_connection.hpp"

namespace rowlock::test {

namespace {

class lasting_line {
 public:
  explicit lasting_line(const std::string& url) : line_{url} {}
  pq_result run(const std::string& sql, std::initializer_list<std::string_view> arguments = {}) {
    return line_.with([&](const pq_connection& by) { return by.run(sql, arguments); });
  }

 private:
  lasting<pq_connection, std::string> line_;
};

void make_table(const std::string& url) {
  const pq_connection by{url};
  by.run("CREATE TABLE locks_by_hand (name text PRIMARY KEY, owner text, expires_at timestamptz)");
  for (const auto* name : names_of_subjects)
    by.run("INSERT INTO locks_by_hand VALUES ($1, '', now() - interval '1 day')", {name});
}

/// A row with an expiry.
class expiring_row : public subject {
 public:
  explicit expiring_row(const std::string& url) : line_{url} {}

  bool try_acquire(const std::string& name) override {
    owner_ = new_owner();
    name_ = name;
    sent_.begin();
    return line_
               .run(
                   "INSERT INTO locks_by_hand VALUES ($1, $2, now() + $3::bigint * interval '1 millisecond') ON "
                   "CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner, expires_at = EXCLUDED.expires_at WHERE "
                   "locks_by_hand.expires_at < now() RETURNING 1",
                   {name_, owner_, std::to_string(lease_of_subjects().count())})
               .rows() > 0;
  }
  bool is_held() noexcept override { return true; }
  void release() override { line_.run("DELETE FROM locks_by_hand WHERE name = $1 AND owner = $2", {name_, owner_}); }

 protected:
  bool is_within_lease() const noexcept { return sent_.is_within(lease_of_subjects()); }

 private:
  lasting_line line_;
  std::string name_;
  std::string owner_;
  since sent_;
};

/// Its program looks at its own clock.
class watched_row final : public expiring_row {
 public:
  using expiring_row::expiring_row;
  bool is_held() noexcept override { return is_within_lease(); }
};

/// What ends with its session: its program asks now and then whether that is there.
class of_a_session : public subject {
 public:
  explicit of_a_session(const std::string& url) : line_{url} {}

  bool is_held() noexcept override try {
    if (asked_.is_within(ping_of_subjects)) return true;
    asked_.begin();
    return asks();
  } catch (const std::exception&) {
    return false;
  }

 protected:
  pq_result run(const std::string& sql, std::initializer_list<std::string_view> arguments = {}) {
    return line_.run(sql, arguments);
  }
  void begin_to_ask() { asked_.begin(); }

 private:
  virtual bool asks() { return line_.run("SELECT 1").rows() == 1; }

  lasting_line line_;
  since asked_;
};

class advisory_lock final : public of_a_session {
 public:
  using of_a_session::of_a_session;

  bool try_acquire(const std::string& name) override {
    name_ = name;
    begin_to_ask();
    const auto answer = run("SELECT pg_try_advisory_lock(hashtextextended($1, 0)), pg_backend_pid()", {name_});
    session_ = answer.text(0, 1).value();
    return answer.text(0, 0) == "t";
  }
  void release() override { run("SELECT pg_advisory_unlock(hashtextextended($1, 0))", {name_}); }

 private:
  // A new session would answer as well, but has no lock.
  bool asks() override { return run("SELECT pg_backend_pid()").text(0, 0) == session_; }

  std::string name_;
  std::string session_;
};

/// Behind a pooler it is not its program that has the session.
class pooled_advisory_lock final : public of_a_session {
 public:
  using of_a_session::of_a_session;

  bool try_acquire(const std::string& name) override {
    name_ = name;
    begin_to_ask();
    return run("SELECT pg_try_advisory_lock(hashtextextended($1, 0))", {name_}).text(0, 0) == "t";
  }
  void release() override { run("SELECT pg_advisory_unlock(hashtextextended($1, 0))", {name_}); }

 private:
  std::string name_;
};

class locked_row final : public of_a_session {
 public:
  using of_a_session::of_a_session;

  bool try_acquire(const std::string& name) override {
    run("BEGIN");
    begin_to_ask();
    if (run("SELECT 1 FROM locks_by_hand WHERE name = $1 FOR UPDATE SKIP LOCKED", {name}).rows() > 0) return true;
    run("ROLLBACK");
    return false;
  }
  void release() override { run("COMMIT"); }

 private:
  bool asks() override { return run("SELECT now() < statement_timestamp()").text(0, 0) == "t"; }  // in that transaction
};

}  // namespace

std::vector<subject_kind> postgresql_subjects() {
  return {{"row", "postgresql", make_table, connect_subject<expiring_row>},
          {"row-and-clock", "postgresql", make_table, connect_subject<watched_row>},
          {"advisory-lock", "postgresql", prepare_nothing, connect_subject<advisory_lock>},
          {"advisory-lock-pooled", "pgbouncer", prepare_nothing, connect_subject<pooled_advisory_lock>, false, false},
          {"for-update", "postgresql", make_table, connect_subject<locked_row>}};
}

}  // namespace rowlock::test
