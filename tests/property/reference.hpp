#pragma once

#include <rowlock/strategy.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "property/program.hpp"

namespace rowlock::test::property {

/// Rules that are wrong: a program must tell them from those of the library.
enum class mistake : std::uint8_t {
  none,
  sharers_exclude_each_other,
  permits_are_endless,
  first_handle_lets_go,
  upgrades_beside_others,
  force_is_told_at_once
};

enum class answer : std::uint8_t { nothing, yes, no, lost, unsupported };

/// A name that somebody has, by one handle or more.
struct holding {
  int client = 0;
  int name = 0;
  int holder = 0;
  rowlock::strategy strategy{};
  bool is_alone = true;
  std::int64_t permits = 1;  ///< as it shares the name
  bool is_believed = true;   ///< by its client: it has not been told otherwise
  int handles = 1;
  std::int64_t token = 0;  ///< what the library has given
};
using holding_ptr = std::shared_ptr<holding>;

/// What the library must do, by a map from names to holders. Nothing expires.
class reference {
 public:
  /// `has_row_locks`: for_update is by a transaction, and not by a row that names a process.
  reference(bool has_row_locks, mistake wrong) : has_row_locks_{has_row_locks}, wrong_{wrong} {}

  struct verdict {
    answer what = answer::nothing;
    holding_ptr granted{};  ///< its token must be greater than all of its name before
  };
  verdict take(const step& s);

  /// Who has each name, by all accounts but perhaps their own.
  const std::map<int, std::vector<holding_ptr>>& held() const { return held_; }
  /// By the steps that were granted them.
  const std::map<int, holding_ptr>& handles() const { return handles_; }

 private:
  verdict ask(const step& s);
  std::set<holding_ptr> had_already(const step& s, int holder) const;
  bool is_had_by_transaction(int name) const;
  bool is_grantable(const step& s) const;
  bool is_believed_by_its_client(const step& s) const;
  verdict with_handle(const step& s, const holding_ptr& h);
  answer release(const step& s, const holding_ptr& h);
  verdict upgrade(const holding_ptr& h);
  verdict downgrade(const holding_ptr& h);
  answer force(const step& s);
  void free(int client, const holding_ptr& h);
  bool is_held(const holding_ptr& h) const;
  /// What a call answers that asks the database, which has given it to nobody or to another: then its client knows.
  answer standing(const holding_ptr& h) const;

  bool has_row_locks_;
  mistake wrong_;
  std::map<int, std::vector<holding_ptr>> held_;
  std::map<int, holding_ptr> handles_;
};

}  // namespace rowlock::test::property
