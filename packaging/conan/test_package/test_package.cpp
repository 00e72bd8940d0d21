// Takes a lock where there is SQLite's backend, and says that it is not there where it is not.
#include <exception>
#include <iostream>
#include <rowlock/rowlock.hpp>

int main() {
  try {
    auto locks = rowlock::client::connect("sqlite::memory:");
    locks.migrate();
    const auto held = locks.acquire("test_package");
    std::cout << "fencing token " << held.token().value() << '\n';
    return 0;
  } catch (const rowlock::error& e) {
    std::cout << e.what() << '\n';
    return e.code() == rowlock::errc::unsupported ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
