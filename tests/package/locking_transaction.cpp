// locking_transaction URL: locks in a transaction of its own.
#include <rowlock/interop/pqxx.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto locks = rowlock::client::connect(argv[1]);
  pqxx::connection connection{argv[1]};
  pqxx::work tx{connection};
  rowlock::lock_in(tx, locks, "consumer");
  tx.commit();
}
