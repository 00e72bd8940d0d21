#include "command/top_looker.hpp"

#include <exception>
#include <utility>

#include "base/text.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

std::string what_came_of_freeing(client& locks, const lock_info& shown) {
  try {
    if (locks.force_release(shown.name, token_to_free(shown))) return "freed " + base::quoted(shown.name.view());
    return base::quoted(shown.name.view()) + (locks.find(shown.name) ? " was not freed: another has it meanwhile"
                                                                     : " was not freed: nobody holds it any more");
  } catch (const error& e) {
    if (e.outcome_is_unknown())
      return "it is not known whether " + base::quoted(shown.name.view()) + " was freed: " + e.what();
    return base::quoted(shown.name.view()) + " was not freed: " + e.what();
  }
}

}  // namespace

void top_mailbox::put(news what) {
  all_.lock()->push_back(std::move(what));
  bell_.ring();
}

std::vector<top_mailbox::news> top_mailbox::take() { return std::exchange(*all_.lock(), {}); }

top_looker::top_looker(client& locks, std::string prefix, duration every, top_mailbox& to)
    : locks_{locks}, prefix_{std::move(prefix)}, every_{every}, to_{to}, thread_{[this](const std::stop_token& stop) {
        work(stop);
      }} {}

void top_looker::look() {
  orders_.lock()->wants_look = true;
  changed_.notify_all();
}

void top_looker::free(lock_info shown) {
  orders_.lock()->to_free.push_back(std::move(shown));
  changed_.notify_all();
}

void top_looker::work(const std::stop_token& stop) {
  for (;;) {
    const auto ordered = wait_for_orders(stop);
    if (stop.stop_requested()) return;
    for (const auto& each : ordered.to_free) free_it(each);
    look_once();
  }
}

/// At most until the next look is due.
top_looker::orders top_looker::wait_for_orders(const std::stop_token& stop) {
  auto now = orders_.lock();
  changed_.wait_for(now.lock(), stop, every_, [&] { return now->wants_look || !now->to_free.empty(); });
  return std::exchange(*now, {});
}

void top_looker::look_once() {
  try {
    auto what = look_at_all(locks_, prefix_);
    to_.put(top_mailbox::seen{.what = std::move(what), .when = top_history::clock::now()});
  } catch (const std::exception& e) {
    to_.put(top_mailbox::failed{e.what()});
  }
}

void top_looker::free_it(const lock_info& shown) { to_.put(top_mailbox::told{what_came_of_freeing(locks_, shown)}); }

}  // namespace rowlock::command
