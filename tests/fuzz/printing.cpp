// What the command prints about locks whose texts anybody may have written, and the metrics.

#include <rowlock/openmetrics.hpp>

#include <algorithm>
#include <sstream>
#include <vector>

#include "command/output.hpp"
#include "command/situation.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/utf8.hpp"
#include "support/openmetrics.hpp"

namespace rowlock::fuzz {

namespace {

using command::json;

std::optional<duration> maybe_duration(input& from) {
  return from.ConsumeBool() ? std::optional{any_duration(from)} : std::nullopt;
}

lock_info some_lock(input& from, const lock_name& name) {
  return {.name = name,
          .token = fencing_token{from.ConsumeIntegral<std::int64_t>()},
          .owner = text(from),
          .thread = from.ConsumeBool() ? "session " + text(from) : text(from),
          .held_for = maybe_duration(from),
          .expires_in = maybe_duration(from),
          .held_by_transaction = from.ConsumeBool(),
          .note = text(from),
          .sharers = from.ConsumeIntegral<std::int64_t>()};
}

waiter_info some_waiter(input& from, const lock_name& name) {
  return {.name = name,
          .ticket = from.ConsumeIntegral<std::int64_t>(),
          .owner = text(from),
          .thread = text(from),
          .age = any_duration(from),
          .note = text(from)};
}

/// What programs read of it.
json read(const json& what) {
  const auto written = command::text_of(what);
  expect(is_tame(written), "JSON can be shown", written);
  auto out = json::parse(written, nullptr, false);
  expect(!out.is_discarded(), "it is JSON", written);
  return out;
}

void check_text(const json& seen, const std::string& text) {
  if (is_utf8(text)) expect((seen.is_null() ? "" : seen.get<std::string>()) == text, "texts come back", text);
}

void check_json(const command::situation& seen) {
  const auto all = read(command::json_of(seen));
  expect(all["name"] == seen.name, "the name comes back", seen.name);
  if (seen.holder) {
    check_text(all["owner"], seen.holder->owner);
    check_text(all["thread"], seen.holder->thread);
    check_text(all["note"], seen.holder->note);
  }
  expect(all["waiters"].size() == seen.queue.size(), "all waiters are there");
  for (std::size_t i = 0; i < seen.queue.size(); ++i) {
    check_text(all["waiters"][i]["owner"], seen.queue[i].owner);
    expect(all["waiters"][i]["ticket"] == seen.queue[i].ticket, "numbers come back");
  }
  for (std::size_t i = 0; i < seen.sharers.size(); ++i) check_text(all["holders"][i]["note"], seen.sharers[i].note);
}

void check_tables(const command::situation& seen) {
  std::ostringstream out;
  command::write(out, seen);
  expect(is_tame(out.str()), "tables can be shown", out.str());
  std::ostringstream queue;
  command::write_queue(queue, seen.queue, true);
  const auto lines = std::count(queue.view().begin(), queue.view().end(), '\n');
  expect(seen.queue.empty() || lines == static_cast<std::ptrdiff_t>(seen.queue.size()) + 1, "each has a line",
         queue.str());
}

void check_graph(const command::situation& seen) {
  std::vector<command::wait_edge> all;
  for (const auto& each : seen.queue) {
    auto& edge = all.emplace_back();
    edge.who = {.owner = each.owner, .thread = each.thread};
    edge.name = std::string{each.name.view()};
    if (seen.holder) edge.holders.push_back({.owner = seen.holder->owner, .thread = seen.holder->thread});
  }
  command::mark_circles(all);
  const auto graph = read(command::json_of(all));
  for (std::size_t i = 0; i < all.size(); ++i) {
    check_text(graph[i]["owner"], all[i].who.owner);
    const auto& edge = all[i];
    if (edge.holders.size() == 1 && edge.who == edge.holders[0])
      expect(edge.is_in_circle, "who waits for itself is in a circle");
  }
  std::ostringstream out;
  command::write_graph(out, all);
  expect(is_tame(out.str()), "the graph can be shown", out.str());
}

void check_metrics(input& from) {
  client_statistics of;
  const auto operation = text(from);
  of.statements.push_back({.operation = operation, .took = {}});
  for (auto& each : of.statements[0].took.counts) each = from.ConsumeIntegral<std::uint8_t>();
  of.statements[0].took.sum = duration{from.ConsumeIntegralInRange<std::int64_t>(0, 1'000'000'000)};
  of.renewals = from.ConsumeIntegral<std::uint32_t>();
  std::ostringstream out;
  write_openmetrics(out, of);
  const auto read = test::openmetrics::parse(out.view());
  expect(read.value("rowlock_renewals_total") == static_cast<double>(of.renewals), "numbers come back");
  std::uint64_t calls = 0;
  for (const auto each : of.statements[0].took.counts) calls += each;
  expect(read.value("rowlock_statement_seconds_count", {{"operation", operation}}) == static_cast<double>(calls),
         "labels come back", operation);
}

}  // namespace

void feed(input& from) {
  const auto written = text(from);
  if (!written.empty() && written.size() <= 255 && is_plain(written)) {
    const lock_name name{written};
    command::situation seen{.name = written};
    if (from.ConsumeBool()) seen.holder = some_lock(from, name);
    for (int i = from.ConsumeIntegralInRange(0, 3); i > 0; --i) seen.queue.push_back(some_waiter(from, name));
    for (int i = from.ConsumeIntegralInRange(0, 2); i > 0; --i) seen.sharers.push_back(some_lock(from, name));
    check_json(seen);
    check_tables(seen);
    check_graph(seen);
  }
  check_metrics(from);
}

}  // namespace rowlock::fuzz
