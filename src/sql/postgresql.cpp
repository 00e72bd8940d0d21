#include <utility>

#include "sql/loader.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::sheets {

namespace {

// A time that an operator has set to infinity counts as far away: calculating with infinity would be an error for every
// client that reads the row.
std::string with_finite_times(std::string text) {
  constexpr std::string_view finite =
      "(CASE % WHEN 'infinity' THEN timestamptz '9999-12-31 UTC' "
      "WHEN '-infinity' THEN timestamptz '0001-01-01 UTC' ELSE % END)";
  for (const std::string_view of : {"expires_at", "l.expires_at", "acquired_at", "enqueued_at"})
    for (const std::string_view use : {" us(% - ", " us(clock_timestamp() - %)", "min(%)"})
      text = replaced(text, replaced(use, "%", of), replaced(use, "%", replaced(finite, "%", of)));
  return text;
}

std::string with_microseconds(std::string text) {
  return expanded(std::move(text), " us", [](std::string_view of) {
    return " (extract(epoch FROM " + std::string{of} + ") * 1000000)::bigint";
  });
}

// The tickets are read in the order of the index, and no more of them than needed.
std::string first_of(std::string_view which) {
  const auto part = "(SELECT q.owner, q.name FROM rowlock_waiter q WHERE " + std::string{which} +
                    " AND q.expires_at > clock_timestamp() AND ";
  return "(" + part + "(q.room IS DISTINCT FROM -2 OR insists(q)) ORDER BY q.ticket LIMIT 1)\n    UNION ALL " + part +
         "q.room = -2 ORDER BY q.ticket LIMIT 1) LIMIT 1)";
}

// notify_first(teller, which): the first of these tickets, unless it is of the client `teller`. A text that is no name,
// or an owner that is no client's id, is not notified: such a ticket was written by hand, and NOTIFY would refuse it.
std::string notify_first(std::string_view arguments) {
  const auto comma = find_outside(arguments, ',');
  return "(SELECT pg_notify('rowlock_' || right(q.owner, 16), q.name)::text FROM first_of(" +
         std::string{arguments.substr(comma + 2)} + ") q\n    WHERE right(q.owner, 16) <> " +
         std::string{arguments.substr(0, comma)} +
         " AND octet_length(right(q.owner, 16)) = 16 AND octet_length(q.name) <= 255)";
}

std::string with_notices(std::string text) {
  text = expanded(expanded(std::move(text), "notify_first", notify_first), "first_of", first_of);
  return with_insists(std::move(text),
                      "({x}.room < -1 AND {x}.enqueued_at <= clock_timestamp() - interval '100 milliseconds'\n    "
                      "AND ({x}.enqueued_at > clock_timestamp() - interval '1100 milliseconds' "
                      "OR us(clock_timestamp()) % 5000000 < 1000000))");
}

std::string setting(std::string_view name, std::string_view value) {
  return " AND set_config('" + std::string{name} + "', '" + std::string{value} + "', true) IS NOT NULL";
}

// It is evaluated once in a statement. A promotion ends all sessions' right to write the old history, and a crash ends
// the sessions, so what was read here is still right at the commit. A client that does not know yet that the guard is
// relaxed is refused: so it asks for one table less, and looks again.
std::string guarded(bool may_relax) {
  return " AND (SELECT right(g.incarnation, 8) = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) "
         "AND g.grants_from <= clock_timestamp() AND " +
         std::string{may_relax ? "(g.relaxed_from IS NULL OR g.term = (SELECT w.term FROM rowlock_witness w))"
                               : "g.relaxed_from IS NULL"} +
         " FROM rowlock_guard g)";
}

// A client that does not know yet that the guard is relaxed, or sends this when it is not any more, waits for the disk.
// FOR KEY SHARE locks no row here, but the table, until the commit: await_relaxed waits for that.
std::string relaxed_if_guarded_so(std::string_view otherwise) {
  return " AND set_config('synchronous_commit', coalesce((SELECT 'off' FROM rowlock_guard g "
         "WHERE g.relaxed_from <= clock_timestamp() AND g.term = (SELECT w.term FROM rowlock_witness w) "
         "AND NOT EXISTS (SELECT FROM rowlock_witness w WHERE w.id = 0 FOR KEY SHARE)), " +
         std::string{otherwise} + "), true) IS NOT NULL";
}

// Settings live in the session, unless several clients share it: then each statement contains the settings that it
// needs, for its own transaction.
spelling as_sent(const choices& with) {
  const auto finish = [with](const std::string& text, const entry& /*of*/) {
    const auto always = with.transaction_pooling ? setting("synchronous_commit", "on") : std::string{};
    const auto durable =
        with.may_relax
            ? relaxed_if_guarded_so(with.transaction_pooling ? "'on'" : "current_setting('synchronous_commit')")
            : always;
    const auto relaxed = setting("synchronous_commit", "off");
    auto out = replaced(replaced(text, "{durably}", durable), "{relaxed}", relaxed);
    out = replaced(replaced(out, "{always durably}", always), "{releasing}", with.durable_release ? durable : relaxed);
    out = replaced(out, "{guarded}", with.is_guarded ? guarded(with.may_relax) : "");
    out = replaced(out, "{after_all}", "repeat(convert_from('\\xf48fbfbf', 'UTF8'), 64)");
    out = replaced(out, "{briefly}", with.transaction_pooling ? setting("lock_timeout", "100ms") : std::string{});
    return with_microseconds(with_finite_times(with_notices(std::move(out))));
  };
  return {.sign = '$', .finish = finish};
}

}  // namespace

sheet postgresql(std::string_view prefix, const choices& with) {
  return sheet_of(read_sheet(postgresql_text()), as_sent(with), {.prefix = prefix});
}

enlisted_texts postgresql_enlisted(std::string_view prefix, std::string_view place, bool is_guarded) {
  const auto in_full = std::string{place}.append(prefix);
  return enlisted_of(read_sheet(postgresql_text()), as_sent({.is_guarded = is_guarded, .may_relax = is_guarded}),
                     in_full);
}

std::vector<passage> postgresql_passages(std::string_view prefix, const choices& with) {
  const std::string head =
      "-- The statements that rowlock sends to PostgreSQL" +
      std::string{with.transaction_pooling ? ", with transaction_pooling" : ""} +
      (with.durable_release ? ", with durable_release" : "") +
      ".\n"
      "-- The table prefix and all replacements are filled in. $1 is the first argument of the verb. The schema\n"
      "-- of the tables is left out: a client finds it when it connects, and writes it before each table.\n";
  const auto entries = read_sheet(postgresql_text());
  return passages_of(
      head, postgresql_text(),
      {sheet_of(entries, as_sent(with), {.prefix = prefix, .place = ""}), enlisted_of(entries, as_sent({}), prefix)});
}

std::optional<step> postgresql_without_notices(const step& of) {
  if (of.verb == verb::ring || of.verb == verb::first_waiter) return std::nullopt;
  step out = of;
  bool notifies = false;
  change_texts(out, [&](std::string& text) {
    auto silent = replaced(text, "pg_notify(", "nullif('', '') || concat(");  // NULL: no client was notified
    notifies = notifies || silent != text;
    text = replaced(silent, " AS granted", " AND false AS granted");
  });
  return notifies ? std::optional{std::move(out)} : std::nullopt;
}

}  // namespace rowlock::inline v1::sheets
