#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "dialect/dialect.hpp"
#include "dialect/signature.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::store {

using dialect::field;

/// An argument of a verb, by its name. Text is only looked at while the call lasts.
struct argument {
  field name{};
  driver::argument value{};
};

/// One request of a batch. A verb takes the arguments that it has, and NULL for those that are not given.
class arguments {
 public:
  arguments(std::initializer_list<argument> some) {
    for (const auto& each : some) push_back(each);
  }
  void push_back(const argument& one) { all_.at(count_++) = one; }
  operator std::span<const argument>() const noexcept { return {all_.data(), count_}; }

 private:
  std::array<argument, 8> all_{};
  std::size_t count_ = 0;
};

/// One row of an answer, with columns by their names.
class record {
 public:
  record(const dialect::signature& of, driver::row cells) : columns_{of.columns}, cells_{std::move(cells)} {}

  /// Text that says which request is answered.
  std::string_view key() const { return std::get<std::string>(cells_.at(0)); }
  bool has(field f) const noexcept { return index(f) < cells_.size(); }
  bool is_null(field f) const { return std::holds_alternative<std::monostate>(at(f)); }
  std::int64_t integer(field f) const { return driver::integer(at(f)); }
  std::optional<std::int64_t> maybe_integer(field f) const { return driver::maybe_integer(at(f)); }
  /// NULL is false, and so is a column that the database does not answer.
  bool is_true(field f) const { return has(f) && maybe_integer(f).value_or(0) != 0; }
  std::optional<duration> maybe_duration(field f) const {
    const auto us = maybe_integer(f);
    return us ? std::optional{duration{*us}} : std::nullopt;
  }
  /// NULL is empty.
  std::string text(field f) const { return driver::text(at(f)); }
  const driver::cell& at(field f) const { return cells_.at(index(f)); }

 private:
  std::size_t index(field f) const noexcept {
    std::size_t i = 0;
    while (i < columns_.size() && columns_[i] != f) ++i;
    return i;
  }

  std::array<field, 10> columns_;
  driver::row cells_;
};

/// A session, the SQL of its database, and how long a call on it may last. Valid for the time of one call.
struct access {
  const dialect::table& sql;
  driver::session& session;
  const driver::limits& until;

  std::vector<record> run_batch(dialect::verb what, std::span<const arguments> batch) const;
  std::vector<record> run(dialect::verb what, std::initializer_list<argument> one = {}) const;
  /// Reads what transactions have changed and not committed, too. Where the database can: capabilities.
  std::vector<record> run_dirty(dialect::verb what, std::initializer_list<argument> one) const;
};

/// The arguments of a verb in the order in which its texts number them.
driver::request positional(dialect::verb what, std::span<const argument> given);

}  // namespace rowlock::inline v1::store
