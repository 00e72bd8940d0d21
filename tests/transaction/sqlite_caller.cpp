#include <rowlock/interop/sqlite3.hpp>

#include <sqlite3.h>

#include <stdexcept>
#include <utility>

#include "transaction/caller_by.hpp"

namespace rowlock::test {

namespace {

constexpr int busy_timeout = 2000;

class sqlite_caller : public caller_by<sqlite_caller> {
 public:
  sqlite_caller(const std::string& file, std::string_view kind) : begin_{"BEGIN " + std::string{kind}} {
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    connection_.reset(raw);
    if (code != SQLITE_OK) throw std::runtime_error{file + " cannot be opened"};
    sqlite3_busy_timeout(raw, busy_timeout);
  }

  void begin() override { statement(begin_); }
  void commit() override { statement("COMMIT"); }
  void rollback() override { statement("ROLLBACK"); }
  std::string text(const std::string& sql) override {
    std::string out;
    if (sqlite3_exec(connection_.get(), sql.c_str(), append, &out, nullptr) != SQLITE_OK)
      throw std::runtime_error{sql + ": " + sqlite3_errmsg(connection_.get())};
    return out;
  }

  sqlite3* handle() { return connection_.get(); }

 private:
  struct closing {
    void operator()(sqlite3* c) const { sqlite3_close_v2(c); }
  };

  static int append(void* to, int columns, char** values, char** /*names*/) {
    auto& out = *static_cast<std::string*>(to);
    for (int i = 0; i < columns; ++i) out.append(out.empty() ? "" : " ").append(values[i] == nullptr ? "" : values[i]);
    return 0;
  }

  std::unique_ptr<sqlite3, closing> connection_;
  std::string begin_;
};

}  // namespace

// The tests' files have no character in their path that a URL would encode.
std::unique_ptr<caller> open_sqlite_caller(const std::string& url, std::string_view isolation) {
  return std::make_unique<sqlite_caller>(url.substr(url.find(':') + 1), isolation);
}

}  // namespace rowlock::test
