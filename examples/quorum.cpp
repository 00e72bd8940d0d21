// A name that is held in a majority of five databases: two of them may be away. Here they are files of one folder; in
// earnest each is on a host of its own.
//
//   quorum [FOLDER]

#include <rowlock/rowlock.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr int databases = 5;

std::vector<rowlock::client> connect_to_all(const std::string& folder) {
  std::vector<rowlock::client> out;
  for (int i = 0; i < databases; ++i) {
    // A database that hangs costs its own thread of the quorum_lock so long, and nobody else.
    out.push_back(rowlock::client::connect("sqlite:" + folder + "/quorum-" + std::to_string(i) + ".db",
                                           {.application = "quorum-example", .call_timeout = 2s}));
    out.back().migrate();
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string folder = argc > 1 ? argv[1] : ".";
  auto mine = connect_to_all(folder);
  auto theirs = connect_to_all(folder);
  rowlock::quorum_lock job{{mine.begin(), mine.end()}, "nightly", {.lease = 20s}};
  rowlock::quorum_lock other{{theirs.begin(), theirs.end()}, "nightly", {.lease = 20s}};

  // Two databases are away: others have the name there.
  auto one = theirs[0].acquire("nightly");
  auto two = theirs[1].acquire("nightly");

  auto held = job.acquire();
  std::cout << "held in " << held.members().size() << " of " << databases << " databases, " << held.majority()
            << " are enough; valid for "
            << std::chrono::duration_cast<std::chrono::milliseconds>(held.expires_in()).count() << " ms\n";
  if (other.try_acquire()) throw std::runtime_error{"two have a majority"};

  // The work, in steps: stop it when the majority is lost.
  for (int step = 0; step < 3 && !held.lost().stop_requested(); ++step) std::cout << "step " << step << '\n';

  held.release();  // a majority is free when this returns
  one.release();
  two.release();
  if (!other.try_acquire_for(20s)) throw std::runtime_error{"it was not released"};
} catch (const std::exception& e) {
  std::cerr << "quorum: " << e.what() << '\n';
  return 1;
}
