#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "dialect/dialect.hpp"
#include "driver/guest.hpp"
#include "driver/liveness_files.hpp"
#include "driver/sqlite_caller.hpp"

namespace rowlock::inline v1::driver {

class sqlite_guest final : public guest {
 public:
  /// `path` is the client's file, `files` tell of clients that hold without a lease; it must outlive this object.
  sqlite_guest(sqlite_caller& tx, std::string_view prefix, const std::string& path, const liveness_files* files);

  bool lets_others_go_on() override;
  sight take(const place_in& at, const wish_in& how) override;
  finding pin(const place_in& at, std::string_view acquisition, duration lease) override;
  bool is_at(std::string_view home) override;
  std::optional<sight> begin_optimistically(const place_in& at) override;
  finding set(const place_in& at, std::int64_t version) override;

 private:
  int state() const;
  void refuse_older_data();
  sight see(const place_in& at);
  std::vector<row> write(const std::string& sql, std::span<const argument> arguments);
  bool is_free(const row& found, std::int64_t clock) const;
  void change(const place_in& at, std::int64_t version, std::string_view note, std::int64_t clock);

  sqlite_caller& tx_;
  const std::optional<std::string>
      schema_;  // what the connection calls the client's file; nullopt: it does not have it
  const dialect::guest_texts texts_;
  const liveness_files* const files_;
};

}  // namespace rowlock::inline v1::driver
