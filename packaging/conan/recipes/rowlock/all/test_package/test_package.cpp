#include <iostream>
#include <rowlock/rowlock.hpp>

int main() {
  try {
    auto locks = rowlock::client::connect("sqlite::memory:");
    locks.migrate();
    std::cout << "fencing token " << locks.acquire("test_package").token().value() << '\n';
  } catch (const rowlock::error& e) {
    std::cout << e.what() << '\n';
    return e.code() == rowlock::errc::unsupported ? 0 : 1;  // without with_sqlite
  }
}
