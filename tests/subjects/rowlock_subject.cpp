#include <rowlock/rowlock.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "subjects/subject.hpp"
#include "support/recorder.hpp"

namespace rowlock::test {

namespace {

class rowlock_subject final : public subject {
 public:
  explicit rowlock_subject(const std::string& url)
      : locks_{client::connect(url, {.call_timeout = std::chrono::seconds{1}, .observer = silent()})} {}

  bool try_acquire(const std::string& name) override {
    held_ = locks_.try_acquire(name, {.lease = lease_of_subjects()});
    return held_.has_value();
  }
  bool is_held() noexcept override { return held_->why_lost() == loss_reason::none; }
  void release() override { held_->release(); }
  std::int64_t token() const override { return held_->token().value(); }

 private:
  client locks_;
  std::optional<held_lock> held_;
};

client connect_subjects(const std::string& url) {
  return client::connect(url, {.call_timeout = std::chrono::seconds{20}, .observer = silent()});
}

void migrate_subjects(const std::string& url) { connect_subjects(url).migrate(); }

void migrate_and_guard(const std::string& url) {
  auto locks = connect_subjects(url);
  locks.migrate();
  static_cast<void>(locks.set_guard(quarantine_of_subjects));
  locks.acquire("first", {.lease = lease_of_subjects()})
      .release();  // when the quarantine is over that begins with the guard
}

}  // namespace

std::vector<subject_kind> rowlock_subjects() {
  std::vector<subject_kind> out;
#ifdef ROWLOCK_WITH_POSTGRESQL
  out.push_back({"rowlock-postgresql", "postgresql", migrate_subjects, connect_subject<rowlock_subject>, true});
  out.push_back({"rowlock-guard-postgresql", "postgresql", migrate_and_guard, connect_subject<rowlock_subject>, true});
#endif
#ifdef ROWLOCK_WITH_MYSQL
  out.push_back({"rowlock-mysql", "mysql", migrate_subjects, connect_subject<rowlock_subject>, true});
  out.push_back({"rowlock-guard-mysql", "mysql", migrate_and_guard, connect_subject<rowlock_subject>, true});
#endif
  return out;
}

}  // namespace rowlock::test
