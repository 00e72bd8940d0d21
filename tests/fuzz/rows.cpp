// Rows of the tables, whose texts and numbers anybody may have written by hand.

#include <algorithm>
#include <vector>

#include "driver/session.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/utf8.hpp"
#include "store/housekeeping.hpp"
#include "store/inspection.hpp"
#include "store/leases.hpp"
#include "store/tickets.hpp"

namespace rowlock::fuzz {

namespace {

using sheets::field;

/// Answers every statement with rows that have the columns of its verb. What a table cannot have, it does not either:
/// keys and numbers that are NULL.
class made_up final : public driver::session {
 public:
  explicit made_up(input& from) : from_{from} {}
  void exclusively(const std::function<void()>& body, const driver::limits& /*until*/) override { body(); }

 private:
  driver::cell cell(sheets::verb of, field f) {
    const bool has_nulls = of == sheets::verb::inspect || of == sheets::verb::list || of == sheets::verb::find_held ||
                           of == sheets::verb::find_pinning || of == sheets::verb::turn;
    switch (f) {
      case field::name:
      case field::attempt:
        return from_.ConsumeBool() ? "orders/42" : text(from_);
      case field::acquisition:
        if (from_.ConsumeBool()) return "shared:" + text(from_);
        return from_.ConsumeBool() ? "0123456789abcdef" : text(from_);
      case field::owner:
      case field::thread:
      case field::note:
      case field::holding:
      case field::held_name:
        return from_.ConsumeBool() ? driver::cell{} : driver::cell{text(from_)};
      case field::left:
      case field::age:
        if (!has_nulls) return from_.ConsumeIntegral<std::int64_t>();
        [[fallthrough]];
      case field::notified:
      case field::transaction:
        return from_.ConsumeBool() ? driver::cell{} : driver::cell{from_.ConsumeIntegral<std::int64_t>()};
      default:
        return from_.ConsumeIntegral<std::int64_t>();
    }
  }
  std::vector<driver::row> rows(const sheets::step& of) {
    std::vector<driver::row> out(of.verb == sheets::verb::count ? 1 : from_.ConsumeIntegralInRange<std::size_t>(0, 3));
    for (auto& row : out)
      for (const field f : of.signature.columns)
        if (f != field::none) row.push_back(cell(of.verb, f));
    return out;
  }
  std::vector<driver::row> do_run(const sheets::step& what, std::span<const driver::request> /*batch*/,
                                  const driver::limits& /*until*/) override {
    return rows(what);
  }
  std::vector<driver::row> do_run_dirty(const sheets::step& what, const driver::request& /*one*/,
                                        const driver::limits& /*until*/) override {
    return rows(what);
  }
  void do_script(const std::string& /*sql*/) override {}
  std::int64_t do_change_count(const driver::limits& /*until*/) override { return 0; }

  input& from_;
};

/// A name that is no name is refused: nothing else may come of a row.
template <class Look>
void look(Look look_at) {
  const auto refusal = error_of(look_at);
  expect(!refusal || refusal->code() == errc::invalid_name, "a row is read or its name is refused",
         refusal ? refusal->what() : "");
}

void check(const lock_info& seen) {
  expect(!seen.name.view().empty() && is_plain(std::string{seen.name.view()}), "what is listed can be asked for");
  expect(seen.held_for.value_or(duration::zero()) >= duration::zero(), "nobody has held it for less than nothing");
}

void check_lists(const store::access& db) {
  std::vector<std::string> odd;
  const auto all = store::list(db, {}, odd);
  for (const auto& each : all) check(each);
  expect(std::adjacent_find(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name >= b.name; }) ==
             all.end(),
         "a list has each name once, in their order");
  for (const auto& each : store::list_waiters(db, {}, odd))
    expect(each.age >= duration::zero(), "nobody has waited for less than nothing");
  for (const auto& each : odd)
    expect(each.empty() || each.size() > 255 || !is_plain(each), "odd is what is no name", each);
  const auto counted = store::count(db, odd);
  expect(counted.held_by_transaction <= counted.held, "some of those that are held are held by transactions");
}

}  // namespace

void feed(input& from) {
  static const sheets::sheet tables[] = {sheets::postgresql("rowlock_", {}), sheets::sqlite("rowlock_")};
  made_up session{from};
  const driver::limits until;
  const store::access db{.sheet = tables[from.ConsumeBool() ? 1 : 0], .session = session, .until = until};
  const store::lease_ref lease{.name = "orders/42", .acquisition = "0123456789abcdef", .lease = duration{1000}};
  auto share = lease;
  share.is_share = true;
  const store::ticket_ref ticket{.name = lease.name, .attempt = lease.acquisition};
  look([&] { check_lists(db); });
  look([&] {
    if (const auto seen = store::find(db, lease.name)) check(*seen);
    store::sharers(db, lease.name);
    store::waiters(db, lease.name);
  });
  look([&] {
    expect(store::renew(db, {&lease, 1}).size() == 1, "each has an answer");
    expect(store::release(db, {&lease, 1}).size() == 1, "each has an answer");
    expect(store::release(db, {&share, 1}).size() == 1, "each has an answer");
    store::standing_of(store::look_at(db, lease.name), lease.acquisition);
  });
  look([&] {
    expect(store::refresh_tickets(db, {&ticket, 1}).size() == 1, "each has an answer");
    expect(store::look_at_queues(db, {&ticket, 1}).size() == 1, "each has an answer");
    store::first_waiter(db, lease.name, lease.acquisition);
    store::waiting_holders(db);
    store::find_dead(db, {}, 3);
    for (const auto& each : store::find_unused(db, {}, 3, duration{1}).invalid_names)
      expect(each.empty() || each.size() > 255 || !is_plain(each), "odd is what is no name", each);
  });
}

}  // namespace rowlock::fuzz
