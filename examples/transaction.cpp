// A lock in the program's own transaction, which lasts as long as that: commit and rollback let go of it. So nothing
// can be written without the lock, not even by a process that was paused for too long.
//
//   transaction [FILE]
//
// It is the same with libpqxx and Connector/C++: include rowlock/interop/pqxx.hpp or mysql.hpp, and give lock_in the
// pqxx::work or the sql::Connection.

#include <rowlock/interop/sqlite3.hpp>
#include <rowlock/rowlock.hpp>

#include <sqlite3.h>

#include <exception>
#include <iostream>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int units = 20;
using connection = std::unique_ptr<sqlite3, int (*)(sqlite3*)>;

connection open(const std::string& file) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(file.c_str(), &opened);
  connection owned{opened, sqlite3_close};
  if (code != SQLITE_OK) throw std::runtime_error{file + " cannot be opened"};
  sqlite3_busy_timeout(opened, 10'000);
  return owned;
}

/// The number that the statement answers, if any.
int run(const connection& on, const std::string& sql) {
  int number = 0;
  const auto keep = [](void* to, int, char** values, char**) { return *static_cast<int*>(to) = std::stoi(*values), 0; };
  if (sqlite3_exec(on.get(), sql.c_str(), keep, &number, nullptr) != SQLITE_OK)
    throw std::runtime_error{sql + ": " + sqlite3_errmsg(on.get())};
  return number;
}

/// Buys one unit after the other, until there is none.
void buy_all(const std::string& file, rowlock::client& locks, int& bought) try {
  for (const auto shop = open(file);; ++bought) {
    run(shop, "BEGIN");
    rowlock::lock_in(shop.get(), locks, "stock/1");  // waits for others; what is read from here on nobody changes
    const int left = run(shop, "SELECT units FROM stock");
    if (left > 0) run(shop, "UPDATE stock SET units = " + std::to_string(left - 1));
    run(shop, "COMMIT");
    if (left == 0) return;
  }
} catch (const std::exception& e) {
  std::cerr << "a buyer: " << e.what() << '\n';  // closing the connection has undone the transaction
  bought = -units;                               // so that main() knows
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string file = argc > 1 ? argv[1] : "shop.db";
  auto locks = rowlock::client::connect("sqlite:" + file);  // in the database that has the shop's own tables
  locks.migrate();
  run(open(file), "DROP TABLE IF EXISTS stock; CREATE TABLE stock (units INTEGER)");
  run(open(file), "INSERT INTO stock VALUES (" + std::to_string(units) + ")");
  std::vector<int> bought(4);
  {
    std::vector<std::jthread> all;
    for (int& mine : bought) all.emplace_back([&] { buy_all(file, locks, mine); });
  }
  const int sold = std::accumulate(bought.begin(), bought.end(), 0);
  std::cout << sold << " of " << units << " units sold\n";
  return sold == units ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << "transaction: " << e.what() << '\n';
  return 1;
}
