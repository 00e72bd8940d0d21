#include "driver/postgresql/libpqxx.hpp"

#include <utility>

#include <pqxx/except>

#if ROWLOCK_PQXX_BEFORE(7, 0)
#include <pqxx/connectionpolicy.hxx>
#endif
#if ROWLOCK_PQXX_BEFORE(7, 10)
#include <pqxx/errorhandler>
#endif

namespace rowlock::inline v1::driver {

namespace {

#if ROWLOCK_PQXX_BEFORE(7, 0)

/// Gives libpqxx an existing connection, once. If libpqxx tries to make another one, it gets none.
class adopting : public pqxx::connectionpolicy {
 public:
  explicit adopting(handle connected) : pqxx::connectionpolicy{{}}, connected_{connected} {}
  handle do_startconnect(handle now) override { return now != nullptr ? now : std::exchange(connected_, nullptr); }
  handle do_completeconnect(handle now) override { return now; }

 private:
  handle connected_;
};

struct adopting_base {
  explicit adopting_base(PGconn* connected) : policy{connected} {}
  adopting policy;
};

// Like libpqxx's own connection types, but with a policy that takes more than a string.
class adopted_connection final : private adopting_base, public pqxx::connection_base {
 public:
  explicit adopted_connection(postgresql_handle connected)
      : adopting_base{connected.release()}, pqxx::connection_base{policy} {
    init();
    refuse_reactivation();
  }
  adopted_connection(const adopted_connection&) = delete;
  adopted_connection& operator=(const adopted_connection&) = delete;
  ~adopted_connection() { close(); }

 private:
  // A new connection would lack the session's settings.
  void refuse_reactivation() {
#include <pqxx/internal/ignore-deprecated-pre.hxx>
    inhibit_reactivation(true);
#include <pqxx/internal/ignore-deprecated-post.hxx>
  }
};

adopted_connection adopt(postgresql_handle connected) { return adopted_connection{std::move(connected)}; }

#else

using adopted_connection = pqxx::connection;

adopted_connection adopt(postgresql_handle connected) {
  return pqxx::connection::seize_raw_connection(connected.release());
}

#endif

#if ROWLOCK_PQXX_BEFORE(7, 10)

class notices final : public pqxx::errorhandler {
 public:
  notices(adopted_connection& of, std::function<void(const char*)> to) : pqxx::errorhandler{of}, to_{std::move(to)} {}
  bool operator()(const char message[]) noexcept override {  // NOLINT(modernize-avoid-c-arrays): libpqxx's
    to_(message);
    return false;
  }

 private:
  std::function<void(const char*)> to_;
};

#else

struct notices {
  notices(adopted_connection& of, std::function<void(const char*)> to) {
    of.set_notice_handler([to = std::move(to)](pqxx::zview message) { to(message.c_str()); });
  }
};

#endif

}  // namespace

class libpqxx_connection::implementation {
 public:
  implementation(postgresql_handle connected, std::function<void(const char*)> notice)
      : connection_(adopt(std::move(connected))), notices_{connection_, std::move(notice)} {}

  void prepare(const std::string& name, const std::string& sql) { connection_.prepare(name, sql); }
  pqxx::result execute_prepared(const std::string& name, postgresql_values values) {
    pqxx::nontransaction alone{connection_};
    return detail::execute_prepared(alone, name, values);
  }
  pqxx::result execute(const std::string& sql, postgresql_values values) {
    pqxx::nontransaction alone{connection_};
    return detail::execute_with(alone, sql, values);
  }
  pqxx::result execute_script(const std::string& sql) { return pqxx::nontransaction{connection_}.exec(sql); }

 private:
  adopted_connection connection_;
  [[no_unique_address]] notices notices_;
};

libpqxx_connection::libpqxx_connection(postgresql_handle connected, std::function<void(const char*)> notice)
    : raw_{connected.get()},
      implementation_{std::make_unique<implementation>(std::move(connected), std::move(notice))} {}

libpqxx_connection::~libpqxx_connection() = default;

void libpqxx_connection::prepare(const std::string& name, const std::string& sql) {
  implementation_->prepare(name, sql);
}

pqxx::result libpqxx_connection::execute_prepared(const std::string& name, postgresql_values values) {
  return implementation_->execute_prepared(name, values);
}

pqxx::result libpqxx_connection::execute(const std::string& sql, postgresql_values values) {
  return implementation_->execute(sql, values);
}

pqxx::result libpqxx_connection::execute_script(const std::string& sql) { return implementation_->execute_script(sql); }

bool is_about_connection(const std::exception& e) { return detail::is_a<pqxx::broken_connection>(e); }

bool is_in_doubt(const std::exception& e) { return detail::is_a<pqxx::in_doubt_error>(e); }

}  // namespace rowlock::inline v1::driver
