#include "in_transactions.hpp"

namespace flash_sale {
namespace {

class with_lock_in final : public way {
 public:
  explicit with_lock_in(const std::string& locks_url) : locks_{connect(locks_url)} {}

  outcome buy(shop& from, const request& what, message& mine) override {
    auto result = outcome::sold_out;
    from.in_transaction([&](open_transaction& tx) {
      const stopwatch waited;
      tx.lock(locks_, item);
      waited.note_in(mine);
      result = flash_sale::buy(from, what);
    });
    return result;
  }

 private:
  rowlock::client locks_;
};

class with_optimism final : public way {
 public:
  explicit with_optimism(const std::string& locks_url) : locks_{connect(locks_url)} {}

  outcome buy(shop& from, const request& what, message& /*mine*/) override {
    auto result = outcome::sold_out;
    from.optimistically(locks_, item, [&] { result = flash_sale::buy(from, what); });
    return result;
  }

 private:
  rowlock::client locks_;
};

}  // namespace

std::unique_ptr<way> buying_with_lock_in(const std::string& locks_url) {
  return std::make_unique<with_lock_in>(locks_url);
}

std::unique_ptr<way> buying_optimistically(const std::string& locks_url) {
  return std::make_unique<with_optimism>(locks_url);
}

}  // namespace flash_sale
