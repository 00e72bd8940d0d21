#pragma once

#include <rowlock/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/error_detail.hpp"
#include "driver/session.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::store {

using sheets::field;

/// An argument of a verb, by its name. Text need only live during the call.
struct argument {
  field name{};
  driver::argument value{};
};

/// One request of a batch. A verb takes its own arguments, and NULL for those that are missing. There may be more than
/// it takes.
class arguments {
 public:
  arguments(std::initializer_list<argument> some) {
    for (const auto& each : some) push_back(each);
  }
  void push_back(const argument& one) { all_.at(count_++) = one; }
  operator std::span<const argument>() const noexcept { return {all_.data(), count_}; }

 private:
  std::array<argument, 12> all_{};
  std::size_t count_ = 0;
};

/// One row of an answer, with columns by their names. Valid during the life of its records.
class record {
 public:
  record(const sheets::column_names& columns, const driver::row& cells) : columns_{columns}, cells_{&cells} {}

  /// The text that names the answered request.
  std::string_view key() const { return std::get<std::string>(cells_->at(0)); }
  bool has(field f) const noexcept { return index(f) < cells_->size(); }
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
  const driver::cell& at(field f) const { return cells_->at(index(f)); }

 private:
  std::size_t index(field f) const noexcept {
    std::size_t i = 0;
    while (i < columns_.size() && columns_[i] != f) ++i;
    return i;
  }

  sheets::column_names columns_;
  const driver::row* cells_;
};

/// The rows of an answer. Their memory is given back to the session, which lives longer.
class records {
 public:
  class iterator {
   public:
    iterator(const records& of, std::size_t at) noexcept : of_{&of}, at_{at} {}
    record operator*() const { return (*of_)[at_]; }
    iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    bool operator==(const iterator&) const = default;

   private:
    const records* of_;
    std::size_t at_;
  };

  records(const sheets::step& of, driver::session& from, std::vector<driver::row> rows)
      : columns_{of.signature.columns}, from_{&from}, rows_{std::move(rows)} {}
  records(records&& other) noexcept = default;
  records& operator=(records&&) = delete;
  ~records() {
    if (!rows_.empty()) from_->reuse(std::move(rows_));
  }

  bool empty() const noexcept { return rows_.empty(); }
  std::size_t size() const noexcept { return rows_.size(); }
  record operator[](std::size_t i) const { return {columns_, rows_.at(i)}; }
  iterator begin() const noexcept { return {*this, 0}; }
  iterator end() const noexcept { return {*this, rows_.size()}; }

  /// Adds the rows of another answer of the same verb.
  void append(records more) {
    rows_.insert(rows_.end(), std::make_move_iterator(more.rows_.begin()), std::make_move_iterator(more.rows_.end()));
  }
  template <class Keep>
  void keep_if(Keep keep) {
    std::erase_if(rows_, [&](const driver::row& r) { return !keep(record{columns_, r}); });
  }

 private:
  sheets::column_names columns_;
  driver::session* from_;
  std::vector<driver::row> rows_;
};

/// Calls `use` with the results of `make` for these items. A single item needs no allocation.
template <class Item, class Make, class Use>
auto with_each(std::span<const Item> some, Make make, Use use) {
  using made = std::invoke_result_t<Make, const Item&>;
  if (some.size() == 1) {
    const made one = make(some[0]);
    return use(std::span<const made>{&one, 1});
  }
  std::vector<made> all;
  all.reserve(some.size());
  for (const Item& each : some) all.push_back(make(each));
  return use(std::span<const made>{all});
}

/// Another connection for the same call. A session that another program has left behind, or that a proxy has led
/// elsewhere, may not find existing rows.
class spare_connection {
 public:
  spare_connection() = default;
  spare_connection(const spare_connection&) = delete;
  spare_connection& operator=(const spare_connection&) = delete;
  virtual ~spare_connection() = default;
  /// Replaces the call's first connection, which is closed after the call, unless both agree.
  virtual driver::session& take() = 0;
  virtual void agrees() noexcept = 0;
};

/// A session, the SQL of its database, and how long a call on it may last. Valid during one call.
struct access {
  const sheets::sheet& sheet;
  driver::session& session;
  const driver::limits& until;
  spare_connection* spare = nullptr;
  bool is_guarded = false;                   ///< the guard over failovers is on: `sheet` tests it
  duration longest_lease = duration::max();  ///< no lease may be longer

  /// On another connection, which has no spare one.
  access elsewhere() const {
    return {.sheet = sheet,
            .session = spare->take(),
            .until = until,
            .is_guarded = is_guarded,
            .longest_lease = longest_lease};
  }

  records run_batch(sheets::verb what, std::span<const arguments> batch) const { return run_step(sheet[what], batch); }
  /// Without the rows that others have locked: sheet::skipping.
  records run_batch_skipping(sheets::verb what, std::span<const arguments> batch) const {
    return run_step(sheet.skipping(what), batch);
  }
  records run(sheets::verb what, const arguments& one = {}) const;
  /// Also reads what transactions have changed and not committed, if the database can: capabilities.
  records run_dirty(sheets::verb what, const arguments& one) const;

 private:
  records run_step(const sheets::step& what, std::span<const arguments> batch) const;
};

/// The arguments of a verb in the order in which its texts number them.
inline driver::request positional(const sheets::step& what, std::span<const argument> given) {
  driver::request out;
  const auto& wanted = what.signature.arguments;
  for (std::size_t i = 0; i < wanted.size() && wanted[i] != field::none; ++i) {
    const auto found = std::find_if(given.begin(), given.end(), [&](const argument& a) { return a.name == wanted[i]; });
    if (found != given.end()) out[i] = found->value;
  }
  return out;
}

inline records access::run_step(const sheets::step& what, std::span<const arguments> batch) const {
  return with_each(
      batch, [&](const arguments& each) { return positional(what, each); },
      [&](std::span<const driver::request> all) {
        return records{what, session, session.run(what, all, until)};
      });
}

inline records access::run(sheets::verb what, const arguments& one) const {
  const auto request = positional(sheet[what], one);
  return {sheet[what], session, session.run(sheet[what], {&request, 1}, until)};
}

inline records access::run_dirty(sheets::verb what, const arguments& one) const {
  const auto request = positional(sheet[what], one);
  return {sheet[what], session, session.run_dirty(sheet[what], request, until)};
}

/// Calls `use(index, row)` for each row, with the index of the request whose `key` is the row's key.
template <class Request, class Use>
void correlate(std::span<const Request> batch, std::string_view Request::*key, const records& rows, Use use) {
  if (batch.size() == 1) {
    for (const auto& r : rows)
      if (r.key() == batch[0].*key) use(std::size_t{0}, r);
    return;
  }
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < batch.size(); ++i) places.emplace(batch[i].*key, i);
  for (const auto& r : rows)
    if (const auto at = places.find(r.key()); at != places.end()) use(at->second, r);
}

/// Asks again, on another connection, about the requests whose answer is of this kind: `ask(there, some)` answers each.
/// If that fails, the outcome is unknown: the others may have been carried out.
template <class Request, class Answer, class IsOfKind, class Ask>
void ask_elsewhere(const access& db, std::span<const Request> batch, std::vector<Answer>& answers, IsOfKind is_of_kind,
                   Ask ask) try {
  std::vector<Request> some;
  for (std::size_t i = 0; i < batch.size(); ++i)
    if (is_of_kind(answers[i])) some.push_back(batch[i]);
  if (some.empty() || db.spare == nullptr) return;
  const std::vector<Answer> second = ask(db.elsewhere(), std::span<const Request>{some});
  auto next = second.begin();
  for (auto& each : answers)
    if (is_of_kind(each)) each = *next++;
  if (std::all_of(second.begin(), second.end(), is_of_kind)) db.spare->agrees();
} catch (const error& e) {
  throw detail::error_access::changed(e, [](auto& says) { says.outcome_unknown = true; });
}

}  // namespace rowlock::inline v1::store
