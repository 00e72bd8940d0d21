#include "late_buyer.hpp"

#include "strategies.hpp"
#include "way.hpp"

namespace flash_sale {
namespace {

/// That the lock is lost is what is shown, and no news.
rowlock::client connect_silently(const std::string& locks_url) {
  return rowlock::client::connect(locks_url, {.application = "flash_sale", .observer = [](const auto&) {}});
}

}  // namespace

late_buyer::late_buyer(const task& what)
    : confirms_{what.strategy == paused_with_confirm},
      locks_{connect_silently(what.locks_url)},
      item_{locks_.acquire(item, {.lease = short_lease})},
      shop_{open_shop(what.shop_url)},
      decided_{decide(*shop_, request_)} {}

message late_buyer::carry_out() try {
  shop_->in_transaction([&](open_transaction& tx) {
    flash_sale::carry_out(decided_, *shop_, request_);
    if (confirms_) tx.prove(item_);
  });
  return {.bought = 1};
} catch (const rowlock::error& e) {
  if (e.code() != rowlock::errc::lock_lost) throw;
  return {};
}

}  // namespace flash_sale
