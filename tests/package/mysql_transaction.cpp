// Does in transactions of its own all that rowlock offers there. Links, and is not run.
#include CONNECTOR_HEADER
#include <rowlock/interop/mysql.hpp>
#ifndef CONNECTOR_OF_THE_TEST
#error "these are the headers of another connector"
#endif

void transfer(sql::Connection& connection, rowlock::client& locks) {
  rowlock::lock_in(connection, locks, "consumer");
  rowlock::confirm(connection, locks.acquire("job"));
  rowlock::optimistically(connection, locks, "consumer", [](sql::Connection& /*same*/) {});
}

int main(int argc, char** argv) {
  auto locks = rowlock::client::connect(argv[1]);
  return argc;
}
