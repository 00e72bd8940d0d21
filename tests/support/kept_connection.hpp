#pragma once

#include <unistd.h>

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "support/database.hpp"

namespace rowlock::test {

/// A connection for any thread, one at a time. If it is lost, it is opened again; a forked child opens its own.
template <class Connection>
class kept_connection {
 public:
  explicit kept_connection(std::function<std::shared_ptr<Connection>()> connect) : connect_{std::move(connect)} {}
  kept_connection(const kept_connection&) = delete;
  kept_connection& operator=(const kept_connection&) = delete;
  ~kept_connection() {
    if (!is_of_this_process() && connection_) connection_->abandon();
  }

  bool is_of_this_process() const { return ::getpid() == owner_; }

  /// Calls with the connection; again with a new one if it was lost.
  template <class Look>
  auto with(Look look) {
    const std::lock_guard lock{mutex_};
    if (!is_of_this_process()) return look(*connect_());
    if (!connection_) connection_ = connect_();
    try {
      return look(*connection_);
    } catch (const std::exception&) {
      if (connection_->is_alive()) throw;
    }
    connection_ = connect_();
    return look(*connection_);
  }

 private:
  std::function<std::shared_ptr<Connection>()> connect_;
  std::mutex mutex_;
  std::shared_ptr<Connection> connection_;
  pid_t owner_ = ::getpid();
};

/// An obstacle: runs `begin` on the connection now, and `end` when it is removed.
template <class Connection>
std::unique_ptr<obstacle> meanwhile(std::shared_ptr<Connection> on, const std::string& begin, const std::string& end) {
  on->run_script(begin);
  return obstacle_until([on = std::move(on), end] { on->run_script(end); });  // closing would not wait for it
}

template <class Result>
sql_rows rows_of(const Result& found) {
  sql_rows out;
  for (decltype(found.rows()) row = 0; row < found.rows(); ++row) {
    auto& values = out.emplace_back();
    for (decltype(found.columns()) column = 0; column < found.columns(); ++column)
      values.push_back(found.text(row, column));
  }
  return out;
}

}  // namespace rowlock::test
