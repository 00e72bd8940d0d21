#include "server_tables.hpp"

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <random>

namespace bench {

tables::tables(const server& at) : server_{at}, prefix_{fmt::format("rowlock_bench_{:08x}_", std::random_device{}())} {
  rowlock::client::connect(at.url, {.application = application, .table_prefix = prefix_}).migrate();
}

tables::~tables() {
  try {
    server_.connect()->execute(fmt::format("DROP TABLE {0}lock, {0}waiter, {0}migration", prefix_));
  } catch (const std::exception& e) {
    fmt::print(stderr, "rowlock_bench: the tables {}* stay behind: {}\n", prefix_, e.what());
  }
}

namespace {

class subject_in_tables final : public subject {
 public:
  subject_in_tables(const server& at, const std::function<std::unique_ptr<subject>(const std::string& prefix)>& make)
      : tables_{at}, subject_{make(tables_.prefix())} {}

  std::unique_ptr<lane> open_lane(std::size_t number) override { return subject_->open_lane(number); }

 private:
  tables tables_;
  std::unique_ptr<subject> subject_;
};

}  // namespace

std::unique_ptr<subject> in_own_tables(const server& at,
                                       const std::function<std::unique_ptr<subject>(const std::string& prefix)>& make) {
  return std::make_unique<subject_in_tables>(at, make);
}

}  // namespace bench
