#pragma once

#include <rowlock/error.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/guarded.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::driver {

/// Where a client's tables are. The first session that finds them decides, and every session keeps to that, whatever
/// its own settings say: else one name could be held in two places. Thread-safe.
class table_place {
 public:
  explicit table_place(std::string prefix) : prefix_{std::move(prefix)} {}

  const std::string& prefix() const noexcept { return prefix_; }
  /// In quotes, as it is written before the name of a table.
  std::optional<std::string> found() { return *where_.lock(); }
  /// What is decided: this, if nothing was.
  std::string decide(std::string where) {
    const auto decided = where_.lock();
    if (!*decided) *decided = std::move(where);
    return **decided;
  }

 private:
  const std::string prefix_;
  base::guarded<std::optional<std::string>> where_;
};

/// What is sent in callers' transactions, made once the tables are found. Thread-safe.
class placed_texts {
 public:
  using maker = sheets::enlisted_texts (*)(std::string_view prefix, std::string_view place);

  /// `tables` must outlive it.
  placed_texts(table_place& tables, maker make) : tables_{tables}, make_{make} {}

  const sheets::enlisted_texts* operator->() {
    std::call_once(is_made_, [&] {
      const auto found = tables_.found();
      if (!found) throw error{errc::schema_missing, "the client has not found rowlock's tables; run client::migrate()"};
      texts_ = make_(tables_.prefix(), *found + ".");
    });
    return &texts_;
  }

 private:
  table_place& tables_;
  const maker make_;
  std::once_flag is_made_;
  sheets::enlisted_texts texts_;
};

}  // namespace rowlock::inline v1::driver
