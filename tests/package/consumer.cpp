// consumer URL: takes a lock and prints its fencing token.
#include <exception>
#include <iostream>
#include <rowlock/rowlock.hpp>

int main(int argc, char** argv) {
  try {
    if (argc != 2) return 2;
    auto locks = rowlock::client::connect(argv[1]);
    locks.migrate();
    const auto held = locks.acquire("consumer");
    std::cout << held.token().value() << '\n';
    return 0;
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
