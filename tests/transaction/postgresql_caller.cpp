#include <rowlock/interop/pqxx.hpp>

#include <utility>

#include "transaction/caller_by.hpp"

namespace rowlock::test {

namespace {

class postgresql_caller : public caller_by<postgresql_caller> {
 public:
  postgresql_caller(const std::string& url, std::string_view isolation) : connection_{url} {
    run_alone("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " + std::string{isolation});
  }

  void begin() override {
    own_ = std::make_unique<pqxx::work>(connection_);
    tx_ = own_.get();
  }
  void commit() override {
    own_->commit();
    end();
  }
  void rollback() override {
    own_->abort();
    end();
  }
  bool takes_several() const override { return detail::libpqxx_takes_several; }
  std::string text(const std::string& sql) override { return tx_ == nullptr ? run_alone(sql) : run(*tx_, sql); }

  /// A transaction that is somebody else's to end.
  class borrowed {
   public:
    borrowed(postgresql_caller& by, pqxx::work& tx) : by_{by} { by_.tx_ = &tx; }
    borrowed(const borrowed&) = delete;
    borrowed& operator=(const borrowed&) = delete;
    ~borrowed() { by_.tx_ = nullptr; }

   private:
    postgresql_caller& by_;
  };

  pqxx::dbtransaction& handle() { return *tx_; }
  pqxx::connection& connection() { return connection_; }
  borrowed enter(pqxx::work& tx) { return {*this, tx}; }

 private:
  static std::string run(pqxx::transaction_base& tx, const std::string& sql) {
    std::string out;
    for (const auto& row : tx.exec(sql))
      for (const auto& field : row) out.append(out.empty() ? "" : " ").append(field.c_str());
    return out;
  }
  std::string run_alone(const std::string& sql) {
    pqxx::nontransaction alone{connection_};
    return run(alone, sql);
  }
  void end() {
    tx_ = nullptr;
    own_.reset();
  }

  pqxx::connection connection_;
  std::unique_ptr<pqxx::work> own_;
  pqxx::dbtransaction* tx_ = nullptr;
};

// Outside of a transaction a lock would be gone at once.
template <class Transaction>
concept can_be_locked_in = requires(Transaction& tx, client& locks, const lock_name& name) {
  rowlock::lock_in(tx, locks, name);
};
template <class Transaction>
concept can_be_tried_in = requires(Transaction& tx, client& locks, const lock_name& name) {
  rowlock::try_lock_in(tx, locks, name);
};
template <class Transaction>
concept can_be_tried_in_for = requires(Transaction& tx, client& locks, const lock_name& name) {
  rowlock::try_lock_in_for(tx, locks, name, 1s);
};
template <class Transaction>
concept can_confirm = requires(Transaction& tx, const held_lock& held) {
  rowlock::confirm(tx, held);
};
template <class Transaction>
concept can_confirm_mutex = requires(Transaction& tx, const mutex& m) {
  rowlock::confirm(tx, m);
};
template <class Transaction>
concept serves = can_be_locked_in<Transaction> && can_be_tried_in<Transaction> && can_be_tried_in_for<Transaction> &&
    can_confirm<Transaction> && can_confirm_mutex<Transaction>;
template <class Transaction>
concept serves_for_something = can_be_locked_in<Transaction> || can_be_tried_in<Transaction> ||
    can_be_tried_in_for<Transaction> || can_confirm<Transaction> || can_confirm_mutex<Transaction>;

static_assert(serves<pqxx::work> && serves<pqxx::dbtransaction> &&
              serves<pqxx::transaction<pqxx::isolation_level::serializable>>);
static_assert(!serves_for_something<pqxx::nontransaction> && !serves_for_something<pqxx::connection>);

}  // namespace

std::unique_ptr<caller> open_postgresql_caller(const std::string& url, std::string_view isolation) {
  return std::make_unique<postgresql_caller>(url, isolation);
}

}  // namespace rowlock::test
