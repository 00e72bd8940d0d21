#include <rowlock/election.hpp>

#include <rowlock/client.hpp>
#include <rowlock/error.hpp>

#include <exception>
#include <string>
#include <thread>

#include "api/inside.hpp"
#include "base/boot_clock.hpp"
#include "base/guarded.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/waits.hpp"
#include "core/checks.hpp"

namespace rowlock::inline v1 {

namespace {

using core_ptr = std::shared_ptr<engine::client_core>;

void check_election(const election_options& options) {
  core::check(options.lock);
  if (options.lock.strategy == strategy::for_update)
    throw error{errc::unsupported,
                "an election is by a lease, so that all clients can see the leader, and for_update has none; choose "
                "unique_index or version_cas"};
  if (options.lock.as)
    throw error{errc::invalid_option, "each candidate of an election is a holder of its own; leave the option as out"};
  if (options.look_every < std::chrono::milliseconds{10} || options.look_every > std::chrono::hours{24})
    throw error{errc::invalid_option, "look_every must be between 10 ms and 1 day"};
}

std::optional<lock_info> leader_of(engine::client_core& of, const lock_name& name) {
  auto found = of.inspection.find(name);
  if (found && (found->held_by_transaction || found->sharers > 0)) found.reset();
  return found;
}

void call(const election::work& todo, const std::stop_token& term_end, const held_lock& lead) try {
  todo(term_end, lead);
} catch (const error& e) {
  const bool is_about_the_end = e.code() == errc::lock_lost || e.code() == errc::cancelled;
  if (!is_about_the_end || !term_end.stop_requested()) throw;
}

// false: it was lost. If the database cannot be reached, the client keeps trying.
bool resigned(held_lock& lead) try {
  lead.release();
  return true;
} catch (const error& e) {
  return e.code() != errc::lock_lost;
}

}  // namespace

struct election::state {
  state(core_ptr of, lock_name what, election_options how)
      : client{std::move(of)}, name{std::move(what)}, options{std::move(how)}, after_others{options.lock} {
    after_others.fairness = fairness::fifo;
  }

  const core_ptr client;
  const lock_name name;
  const election_options options;
  lock_options after_others;  // which wait already
  base::guarded<std::stop_source> terms;

  std::optional<held_lock> campaign(const lock_options& how, duration wait, const std::stop_token& stop) const {
    return detail::inside::held(client, client->acquiring.acquire(name, how, std::nullopt, wait, stop));
  }
};

election::election(client& of, lock_name name, election_options options) {
  check_election(options);
  options.lock = detail::seen_by_all(std::move(options.lock));
  state_ = std::make_unique<state>(detail::inside::of(of), std::move(name), std::move(options));
}

election::~election() = default;

held_lock election::campaign(std::stop_token stop) {
  return detail::granted(try_campaign_for_(duration::max(), std::move(stop)), "for the lead of ", &name());
}

std::optional<held_lock> election::try_campaign() { return try_campaign_for_(duration::zero(), {}); }

std::optional<held_lock> election::try_campaign_for_(duration wait, std::stop_token stop) {
  return state_->campaign(state_->options.lock, wait, stop);
}

bool election::lead(std::stop_token stop, const work& todo) {
  auto& s = *state_;
  for (bool goes_after_others = false;;) {
    s.client->db.check_usable();  // in a child of a fork another thread may have locked the following mutexes
    std::stop_source term_end;
    const detail::relayed by_stop{stop, detail::relay{term_end}};
    const detail::relayed by_resign{s.terms.lock()->get_token(), detail::relay{term_end}};
    auto held = s.campaign(goes_after_others ? s.after_others : s.options.lock, duration::max(), term_end.get_token());
    if (!held) {
      if (stop.stop_requested()) return false;
      goes_after_others = true;
      continue;
    }
    const detail::relayed by_loss{held->lost(), detail::relay{term_end}};
    if (!term_end.stop_requested()) call(todo, term_end.get_token(), *held);
    const bool was_ended = term_end.stop_requested();
    const bool was_limited = held->why_lost() == loss_reason::hold_limit;
    const bool was_held = resigned(*held);
    if (!was_ended && was_held) return true;
    if (stop.stop_requested()) return false;
    goes_after_others = was_held || was_limited;
  }
}

void election::resign() {
  if (state_->client->is_foreign()) return;
  std::exchange(*state_->terms.lock(), std::stop_source{}).request_stop();
}

std::optional<lock_info> election::leader() { return leader_of(*state_->client, state_->name); }

const lock_name& election::name() const noexcept { return state_->name; }

// --- observers -------------------------------------------------------------------------------------------------------

struct election::observation::state {
  state(core_ptr of, lock_name what, duration often, observer whom)
      : client{std::move(of)}, name{std::move(what)}, every{often}, changed{std::move(whom)} {}

  const core_ptr client;
  const lock_name name;
  const duration every;
  const observer changed;
  bool has_reported = false;
  bool has_leader = false;
  fencing_token last{};
  base::guarded<std::jthread> thread;

  // The thread itself does not join, the destructor does.
  void stop() noexcept {
    std::jthread ended;
    {
      const auto mine = thread.lock();
      mine->request_stop();
      if (mine->get_id() != std::this_thread::get_id()) ended = std::move(*mine);
    }
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      try {
        look(stop);
      } catch (const error& e) {
        if (e.code() == errc::client_closed) return;
      } catch (const std::exception&) {  // the next look compensates
      }
      base::rest(base::later(base::now(), every), stop);
    }
  }

  void look(const std::stop_token& stop) {
    const auto now = leader_of(*client, name);
    const bool is_older = now && now->token < last;
    const bool is_same = has_reported && now.has_value() == has_leader && (!now || now->token == last);
    if (is_older || is_same || stop.stop_requested()) return;
    has_reported = true;
    has_leader = now.has_value();
    if (now) last = now->token;
    report(now);
  }

  void report(const std::optional<lock_info>& leader) const noexcept try { changed(leader); } catch (...) {
  }
};

// In a child of a fork it is never destroyed: its thread does not exist there and cannot be joined.
void election::observation::ending::operator()(state* of) const noexcept {
  if (of->client->is_foreign()) return;
  of->stop();
  delete of;
}

election::observation::observation(std::unique_ptr<state, ending> of) noexcept : state_{std::move(of)} {}
election::observation::observation(observation&& other) noexcept = default;
election::observation& election::observation::operator=(observation&& other) noexcept = default;
election::observation::~observation() = default;

void election::observation::stop() noexcept {
  if (state_ && !state_->client->is_foreign()) state_->stop();
}

election::observation election::observe(observer changed) {
  const auto& s = *state_;
  s.client->db.check_usable();
  observation out{std::unique_ptr<observation::state, observation::ending>{
      new observation::state{s.client, s.name, s.options.look_every, std::move(changed)}}};
  auto& started = *out.state_;
  const auto thread = started.thread.lock();  // before its first callback may stop it
  *thread = base::start_thread([&started](const std::stop_token& stop) { started.run(stop); });
  return out;
}

}  // namespace rowlock::inline v1
