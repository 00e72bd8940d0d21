#include "property/player.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>

namespace rowlock::test::property {

namespace {

using namespace std::chrono_literals;

const char* words(answer a) {
  constexpr const char* all[] = {"nothing", "yes", "no", "lost", "unsupported"};
  return all[static_cast<std::size_t>(a)];
}

holder holder_of(const step& s) {
  return s.holder == 0 ? holder::unique() : holder::named("holder " + std::to_string(s.holder));
}

template <class Act>
answer answer_of(Act act) try {
  act();
  return answer::yes;
} catch (const error& e) {
  if (e.code() == errc::lock_lost) return answer::lost;
  if (e.code() == errc::unsupported) return answer::unsupported;
  throw;
}

std::string about(const step& s, const std::string& what) {
  std::ostringstream out;
  out << s << ": " << what;
  return out.str();
}

}  // namespace

std::optional<std::string> player::play(const program& all, mistake wrong) {
  ++runs_;
  handles_.clear();
  reference by{has_row_locks_, wrong};
  std::map<int, std::int64_t> newest;  // token of each name
  for (const auto& s : all) try {
      const auto expected = by.take(s);
      if (expected.what == answer::nothing) continue;
      const auto seen = take(s, by);
      if (seen != expected.what)
        return about(s, std::string{"the library says "} + words(seen) + ", the reference " + words(expected.what));
      if (expected.granted) {
        const auto token = handles_.at(handles_.contains(s.number) ? s.number : s.of).token().value();
        if (token <= newest[expected.granted->name]) return about(s, "the token is not greater than before");
        newest[expected.granted->name] = expected.granted->token = token;
      }
      if (auto text = difference(by); !text.empty()) return about(s, text);
    } catch (const std::exception& e) {
      return about(s, e.what());
    }
  handles_.clear();
  return clients_[0].list(prefix()).empty() ? std::nullopt : std::optional<std::string>{"something is left behind"};
}

answer player::take(const step& s, const reference& by) {
  switch (s.what) {
    case verb::acquire:
    case verb::share:
    case verb::take_permits:
      return ask(s);
    case verb::force_release:
    case verb::force_token:
      return force(s, by);
    default:
      return with_handle(s, handles_.at(s.of));
  }
}

answer player::ask(const step& s) {
  auto& locks = clients_.at(static_cast<std::size_t>(s.client));
  const auto with = [&](strategy how) {
    lock_options out{.strategy = how, .as = holder_of(s)};
    if (how != strategy::for_update) out.lease = 10min;  // so nothing is renewed meanwhile
    return out;
  };
  std::optional<held_lock> got;
  if (s.what == verb::acquire) {
    got = locks.try_acquire(name(s.name), with(s.strategy));
  } else if (s.what == verb::share) {
    got = locks.try_acquire_shared(name(s.name), with(strategy::unique_index));
  } else {
    got = semaphore{locks, name(s.name), all_permits, {.lease = 10min}}.try_acquire(s.permits);
  }
  if (!got) return answer::no;
  handles_[s.number] = std::move(*got);
  return answer::yes;
}

answer player::with_handle(const step& s, held_lock& of) {
  switch (s.what) {
    case verb::release: {
      const auto out = answer_of([&] { of.release(); });
      handles_.erase(s.of);
      return out;
    }
    case verb::extend:
      return answer_of([&] { of.extend(20min); });
    case verb::upgrade: {
      bool is_granted = false;
      const auto out = answer_of([&] { is_granted = of.try_upgrade(); });
      return out == answer::yes && !is_granted ? answer::no : out;
    }
    case verb::downgrade:
      return answer_of([&] { of.downgrade(); });
    default: {
      tx_->begin();
      const auto out = answer_of([&] { tx_->confirm(of); });
      tx_->rollback();
      return out;
    }
  }
}

answer player::force(const step& s, const reference& by) {
  auto& locks = clients_.at(static_cast<std::size_t>(s.client));
  std::optional<fencing_token> only;
  if (s.what == verb::force_token) only = fencing_token{by.handles().at(s.of)->token};
  return locks.force_release(name(s.name), only) ? answer::yes : answer::no;
}

std::string player::difference(const reference& by) {
  const auto seen = clients_[0].list(prefix());
  if (seen.size() != by.held().size()) return std::to_string(seen.size()) + " names are listed";
  for (const auto& [of, holders] : by.held()) {
    const auto found =
        std::find_if(seen.begin(), seen.end(), [own = name(of)](const auto& each) { return each.name == own; });
    if (found == seen.end()) return "name " + std::to_string(of) + " is not listed";
    if (auto text = difference_of(of, holders, *found); !text.empty()) return text;
  }
  for (const auto& [number, held] : handles_) {
    const auto& expected = *by.handles().at(number);
    if ((held.why_lost() == loss_reason::none) != expected.is_believed)
      return "#" + std::to_string(number) + " was lost for " + std::string{to_string(held.why_lost())};
    if (held.token().value() != expected.token) return "#" + std::to_string(number) + " has another token";
  }
  return {};
}

std::string player::difference_of(int of, const std::vector<holding_ptr>& holders, const lock_info& seen) {
  const auto told = [&](const std::string& what) { return "name " + std::to_string(of) + " has " + what; };
  std::int64_t permits = 0;
  std::vector<std::int64_t> tokens;
  for (const auto& each : holders) {
    if (!each->is_alone) permits += each->permits;
    tokens.push_back(each->token);
  }
  if (seen.sharers != permits) return told(std::to_string(seen.sharers) + " permits");
  if (permits == 0) {
    const bool is_known = holders[0]->strategy != strategy::for_update;
    return is_known && seen.token.value() != tokens[0] ? told("another token") : std::string{};
  }
  std::sort(tokens.begin(), tokens.end());
  std::vector<std::int64_t> listed;
  for (const auto& each : clients_[1].sharers(name(of))) listed.push_back(each.token.value());
  return listed == tokens ? std::string{} : told("other sharers");
}

}  // namespace rowlock::test::property
