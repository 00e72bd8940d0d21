#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "driver/enlisted_transaction.hpp"
#include "driver/sqlite/caller.hpp"
#include "driver/sqlite/liveness_files.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::driver {

class sqlite_enlisted final : public enlisted_transaction {
 public:
  /// `in_main`: the texts for a connection whose main file is the client's file, `path`. `files`: which clients that
  /// hold without a lease are alive. Both must outlive this object.
  sqlite_enlisted(sqlite_caller& tx, const sheets::enlisted_texts& in_main, std::string_view prefix,
                  const std::string& path, const liveness_files* files);

  bool lets_others_go_on() override;
  lock_view take(const enlisted_target& at, const take_options& how) override;
  enlisted_result pin(const enlisted_target& at, std::string_view acquisition, duration lease) override;
  std::optional<lock_view> see(const enlisted_target& at) override { return look(at); }
  enlisted_result set(const enlisted_target& at, std::int64_t version) override;

 private:
  int state() const;
  void refuse_older_data();
  void require_same_files() const;
  void take_write_lock();
  bool enters(std::string_view installation);
  lock_view look(const enlisted_target& at);
  row find(const enlisted_target& at);
  bool is_free(const row& found, std::int64_t clock) const;
  bool change_vacant(const enlisted_target& at, std::int64_t version, std::string_view note, std::int64_t clock,
                     std::int64_t below);
  void change(const enlisted_target& at, std::int64_t version, std::string_view note, std::int64_t clock);

  sqlite_caller& tx_;
  const std::string& path_;
  const std::optional<std::string>
      schema_;  // the connection's name for the client's file; nullopt: it does not have the file
  sheets::enlisted_texts in_attached_;
  const sheets::enlisted_texts* texts_ = nullptr;
  const liveness_files* const files_;
};

}  // namespace rowlock::inline v1::driver
