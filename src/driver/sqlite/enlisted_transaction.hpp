#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "dialect/dialect.hpp"
#include "driver/enlisted_transaction.hpp"
#include "driver/sqlite/caller.hpp"
#include "driver/sqlite/liveness_files.hpp"

namespace rowlock::inline v1::driver {

class sqlite_enlisted final : public enlisted_transaction {
 public:
  /// `path` is the client's file. `files` says which clients that hold without a lease live; it must outlive this
  /// object.
  sqlite_enlisted(sqlite_caller& tx, std::string_view prefix, const std::string& path, const liveness_files* files);

  bool lets_others_go_on() override;
  lock_view take(const enlisted_target& at, const take_options& how) override;
  enlisted_result pin(const enlisted_target& at, std::string_view acquisition, duration lease) override;
  bool is_at(std::string_view installation) override;
  std::optional<lock_view> begin_optimistically(const enlisted_target& at) override;
  enlisted_result set(const enlisted_target& at, std::int64_t version) override;

 private:
  int state() const;
  void refuse_older_data();
  lock_view see(const enlisted_target& at);
  std::vector<row> write(const std::string& sql, std::span<const argument> arguments);
  bool is_free(const row& found, std::int64_t clock) const;
  void change(const enlisted_target& at, std::int64_t version, std::string_view note, std::int64_t clock);

  sqlite_caller& tx_;
  const std::optional<std::string>
      schema_;  // the connection's name for the client's file; nullopt: it does not have the file
  const dialect::enlisted_texts texts_;
  const liveness_files* const files_;
};

}  // namespace rowlock::inline v1::driver
