#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "history/checker.hpp"
#include "history/record.hpp"
#include "history/round.hpp"
#include "server/fake_machine.hpp"
#include "server/servers.hpp"
#include "subjects/subject.hpp"
#include "support/seed.hpp"
#include "support/tcp_proxy.hpp"
#include "support/tier.hpp"
#include "support/where.hpp"
#include "testkit/child_process.hpp"
#include "testkit/eventually.hpp"
#include "testkit/temp_folder.hpp"

#ifdef ROWLOCK_WITH_POSTGRESQL
#include "postgresql/pgbouncer_server.hpp"
#include "postgresql/postgresql_server.hpp"
#endif
#ifdef ROWLOCK_WITH_MYSQL
#include "cluster/mysql_pair.hpp"
#endif
#ifdef ROWLOCK_WITH_HIREDIS
#include "subjects/redis_server.hpp"
#endif

// The same players, faults and judge for locks of several makes: ./test.sh --soak MINUTES --subject NAME.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

/// Where players go, and what disturbs them there.
struct ground {
  std::string url;          // of the server
  std::string players_url;  // the way of the players
  std::vector<round::nemesis> disturb{};
  std::vector<std::shared_ptr<void>> kept{};  // what must be there meanwhile; the last goes first

  ground() = default;
  ground(ground&&) = default;
  ground& operator=(ground&&) = delete;
  ~ground() {
    while (!kept.empty()) kept.pop_back();
  }

  template <class T>
  std::shared_ptr<T> keep(std::shared_ptr<T> what) {
    kept.push_back(what);
    return what;
  }
  void lead_everybody_to(const std::string& to) { url = players_url = to; }
};

void crash_and_start(private_server& one, std::mt19937& random) {
  one.crash();
  let_pass_at_most(500ms, random);
  one.start();
}

// By up to two minutes in either direction.
round::nemesis steps_of(const std::shared_ptr<fake_machine>& machine) {
  return [machine, ahead = std::chrono::seconds{}](std::mt19937& random) mutable {
    const std::chrono::seconds to{static_cast<int>(random() % 240) - 120};
    machine->step(to - std::exchange(ahead, to));
    let_pass_at_most(1s, random);
  };
}

round::nemesis disturb(const std::shared_ptr<tcp_proxy>& network) {
  return [network](std::mt19937& random) { disturb_network(*network, random); };
}

/// What was committed last is lost.
template <class Pair>
round::nemesis failovers_of(const std::shared_ptr<Pair>& servers) {
  return [servers, is_first = true](std::mt19937& random) mutable {
    if (!std::exchange(is_first, false)) {
      servers->rejoin();
      let_pass_at_most(1s, random);
    }
    servers->cut_off_standby();
    std::this_thread::sleep_for(300ms);
    let_pass_at_most(1s, random);
    servers->fail_over();
    std::this_thread::sleep_for(quarantine_of_subjects);
    let_pass_at_most(2s, random);
  };
}

template <class Pair>
ground on_pair() {
  ground out;
  const auto servers = out.keep(std::make_shared<Pair>());
  const std::shared_ptr<server_database> place = out.keep<server_database>(servers->open());
  out.lead_everybody_to(place->url());
  out.disturb = {failovers_of(servers)};
  return out;
}

enum class fault : std::uint8_t { none, processes, network, crashes, clock, failovers };

ground on_database(const server_kind& kind, fault what) {
  ground out;
  if (what == fault::crashes || what == fault::clock) {
    const auto machine = out.keep(std::make_shared<fake_machine>());
    const auto server = out.keep<private_server>(what == fault::clock ? kind.start(machine.get()) : kind.start_one());
    const auto place = out.keep<server_database>(server->open());
    out.lead_everybody_to(place->url());
    if (what == fault::clock) {
      out.disturb = {steps_of(machine)};
    } else {
      out.disturb = {[server](std::mt19937& random) { crash_and_start(*server, random); }};
    }
    return out;
  }
  const auto place = out.keep<server_database>(kind.open());
  out.lead_everybody_to(place->url());
  if (what != fault::network) return out;
  const auto network = out.keep(std::make_shared<tcp_proxy>(place->host(), place->port()));
  out.players_url = place->url_through(network->port());
  out.disturb = {disturb(network)};
  return out;
}

#ifdef ROWLOCK_WITH_HIREDIS
/// As the pairs of databases are.
class redis_pair {
 public:
  redis_pair() { begin(); }

  std::string url() const { return "redis://127.0.0.1:" + std::to_string(proxy_.port()); }
  void cut_off_standby() const { all_.at(1 - primary_).stop_receiving(); }
  void fail_over() {
    all_.at(primary_).crash();
    primary_ = 1 - primary_;
    all_.at(primary_).promote();
    proxy_.lead_to(all_.at(primary_).address().port.value());
  }
  void rejoin() {
    all_.at(1 - primary_).start();
    begin();
  }

 private:
  void begin() const {
    const auto& standby = all_.at(1 - primary_);
    standby.follow(all_.at(primary_));
    EXPECT_TRUE(eventually([&] { return standby.has_all_of_its_primary(); }));
  }

  std::array<redis_server, 2> all_{redis_server{nullptr}, redis_server{nullptr}};
  std::size_t primary_ = 0;
  tcp_proxy proxy_{"127.0.0.1", all_[0].address().port.value()};
};

ground on_redis(fault what) {
  ground out;
  if (what == fault::failovers) {
    const auto servers = out.keep(std::make_shared<redis_pair>());
    out.lead_everybody_to(servers->url());
    out.disturb = {failovers_of(servers)};
    return out;
  }
  const auto machine = out.keep(std::make_shared<fake_machine>());
  const auto server = out.keep(std::make_shared<redis_server>(what == fault::clock ? machine.get() : nullptr));
  out.lead_everybody_to(server->address().url());
  if (what == fault::clock) out.disturb = {steps_of(machine)};
  if (what == fault::crashes) out.disturb = {[server](std::mt19937& random) { crash_and_start(*server, random); }};
  if (what == fault::network) {
    const auto network = out.keep(std::make_shared<tcp_proxy>("127.0.0.1", server->address().port.value()));
    auto address = server->address();
    address.port = network->port();
    out.players_url = address.url();
    out.disturb = {disturb(network)};
  }
  return out;
}
#endif

ground ground_of(const subject_kind& kind, fault what) {
#ifdef ROWLOCK_WITH_HIREDIS
  if (kind.server == "redis") return on_redis(what);
#endif
#ifdef ROWLOCK_WITH_MYSQL
  if (kind.server == "mysql" && what == fault::failovers) return on_pair<mysql_pair<mariadb_node>>();
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
  if (kind.server == "postgresql" && what == fault::failovers) return on_pair<postgresql_pair>();
  if (kind.server == "pgbouncer") {
    auto out = on_database(on("postgresql", servers()).front(), what);
    const auto place = std::static_pointer_cast<server_database>(out.kept.back());
    out.players_url = out.keep(std::make_shared<pgbouncer_server>(*place))->address().url();
    return out;
  }
#endif
  return on_database(on(kind.server, servers()).front(), what);
}

/// Players of a subject, all of them in processes of their own.
class contest {
 public:
  contest(const subject_kind& kind, const ground& where) : kind_{kind}, where_{where} {
    std::filesystem::create_directory(folder_ / "records");
    kind_.prepare(where_.url);
  }

  void play(std::chrono::seconds time, bool kills) {
    std::mt19937 random{seed()};
    for (int i = 0; i < 4; ++i) all_.push_back(start(random));
    const stopwatch since;
    while (since.elapsed() < time) {
      std::this_thread::sleep_for(std::chrono::milliseconds{50 + random() % 350});
      if (!kills && where_.disturb.empty()) continue;
      ++faults_;
      if (!where_.disturb.empty()) {
        where_.disturb[random() % where_.disturb.size()](random);
      } else if (auto& one = all_[random() % all_.size()]; random() % 2 == 0) {
        one->kill();
        one = start(random);
      } else {
        one->pause();
        let_pass_at_most(2 * lease_of_subjects(), random);
        one->resume();
      }
    }
    std::ofstream{folder_ / "enough"}.flush();
    for (auto& each : all_) EXPECT_EQ(each->wait(), 0);
  }

  /// Tells what became of them, as a row of a table.
  verdict_of_history judged(std::string_view by) const {
    auto all = read_records(folder_ / "records");
    EXPECT_GT(all.beliefs.size(), 0U);
    const auto rules = [&](std::string_view) { return name_rules{.has_tokens = kind_.has_tokens}; };
    auto out = judge(all, rules, 0);
    std::ranges::sort(all.beliefs, {}, &belief::begin);
    std::int64_t stall = 0;
    for (std::size_t i = 1; i < all.beliefs.size(); ++i)
      stall = std::max(stall, all.beliefs[i].begin - all.beliefs[i - 1].begin);
    std::cout << "| " << kind_ << " | " << by << " | " << faults_ << " | " << all.beliefs.size() << " | "
              << out.double_holders << " | " << out.longest_overlap / 1000 << " | " << all.lost << " | " << stall / 1000
              << " |\n";
    return out;
  }

 private:
  std::unique_ptr<child_process> start(std::mt19937& random) const {
    return std::make_unique<child_process>(
        "subject_player", std::vector<std::string>{std::string{kind_.name}, where_.players_url, folder_.path().string(),
                                                   std::to_string(random())});
  }

  const subject_kind& kind_;
  const ground& where_;
  const temp_folder folder_;
  int faults_ = 0;
  std::vector<std::unique_ptr<child_process>> all_;
};

class comparison : public testing::TestWithParam<subject_kind> {
 protected:
  void TearDown() override { ::unsetenv(long_holds); }
  static bool is_ours() { return GetParam().name.starts_with("rowlock"); }

  static verdict_of_history play(fault what, std::string_view called) {
    const auto time =
        std::max<std::chrono::seconds>(2s, soak_time() / testing::UnitTest::GetInstance()->test_to_run_count());
    if (what == fault::failovers) ::setenv(long_holds, "on", 1);
    const auto where = ground_of(GetParam(), what);
    contest one{GetParam(), where};
    one.play(time, what == fault::processes);
    return one.judged(called);
  }
  static void expect_none(const verdict_of_history& found) {
    for (const auto& each : found.violations) ADD_FAILURE() << each;
  }
};

std::string subject_name(const testing::TestParamInfo<subject_kind>& info) {
  std::string out{info.param.name};
  std::ranges::replace(out, '-', '_');
  return out;
}

/// Those that ROWLOCK_TEST_SUBJECT names.
std::vector<subject_kind> chosen() {
  const char* const said = std::getenv("ROWLOCK_TEST_SUBJECT");
  const std::string_view name = said != nullptr ? said : "";
  return where(subjects(), [&](const subject_kind& each) { return name == "all" || name == each.name; });
}

TEST(subject_names, are_known) {
  const char* const said = std::getenv("ROWLOCK_TEST_SUBJECT");
  if (said == nullptr) return;
  std::string names = "all";
  for (const auto& each : subjects()) names.append(", ").append(each.name);
  EXPECT_FALSE(chosen().empty()) << "the subjects are: " << names;
}

class undisturbed : public comparison {};
INSTANTIATE_TEST_SUITE_P(subject, undisturbed, testing::ValuesIn(subjects()), subject_name);
class disturbed : public comparison {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(disturbed);
INSTANTIATE_TEST_SUITE_P(subject, disturbed, testing::ValuesIn(chosen()), subject_name);

// The judge finds what there is to find, and nothing else.
TEST_P(undisturbed, excludes_if_it_can) {
  const auto found = play(fault::none, "nothing");
  if (GetParam().excludes) return expect_none(found);
  if (is_soak()) {
    EXPECT_GT(found.double_holders, 0);
  }
}

TEST_P(disturbed, by_kills_and_pauses) {
  const auto found = play(fault::processes, "kills and pauses of processes");
  if (is_ours()) expect_none(found);
}

TEST_P(disturbed, by_the_network) {
  if (GetParam().server == "pgbouncer") GTEST_SKIP() << "the pooler is beside its clients";
  const auto found = play(fault::network, "cut, slow and silent connections");
  if (is_ours()) expect_none(found);
}

TEST_P(disturbed, by_crashes_of_the_server) {
  const auto found = play(fault::crashes, "crashes of the server");
  if (is_ours()) expect_none(found);
}

// No lock whose lease is shorter than the step promises anything here.
TEST_P(disturbed, by_steps_of_the_servers_clock) { play(fault::clock, "steps of the server's clock"); }

TEST_P(disturbed, by_failovers_that_lose_commits) {
  if (GetParam().server == "pgbouncer") GTEST_SKIP() << "the pooler leads to one server";
  const auto found = play(fault::failovers, "failovers that lose commits");
  if (GetParam().name.starts_with("rowlock-guard")) expect_none(found);
}

}  // namespace
}  // namespace rowlock::test
