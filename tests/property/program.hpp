#pragma once

#include <rowlock/strategy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

namespace rowlock::test::property {

enum class verb : std::uint8_t {
  acquire,        ///< tries to have the name alone
  share,          ///< tries to share it
  take_permits,   ///< of `all_permits`
  release,        ///< the handle of step `of`, as what follows
  extend,         ///< its lease
  upgrade,        ///< from sharing the name to having it alone
  downgrade,      ///< the other way round
  confirm,        ///< in a transaction of the caller's
  force_release,  ///< whoever has the name
  force_token     ///< who has it with the token of step `of`
};

inline constexpr std::int64_t all_permits = 3;
inline constexpr int clients = 2;
inline constexpr int names = 2;

struct step {
  int number = 0;  ///< in the program that the seed has made
  verb what{};
  int client = 0;
  int name = 0;
  int holder = 0;  ///< 0: nobody who has it already
  rowlock::strategy strategy{};
  std::int64_t permits = 1;
  int of = 0;  ///< a step before; of one that has no handle, nothing is done
};
using program = std::vector<step>;

std::ostream& operator<<(std::ostream& out, const step& s);
std::ostream& operator<<(std::ostream& out, const program& all);

program random_program(unsigned seed, int length);

/// The program without all steps that it fails without.
template <class Fails>
program shrunk(program failing, Fails fails) {
  for (auto part = failing.size() / 2; part > 0;) {
    bool is_smaller = false;
    for (std::size_t at = 0; at < failing.size();) {
      program shorter = failing;
      const auto from = shorter.begin() + static_cast<std::ptrdiff_t>(at);
      shorter.erase(from, from + static_cast<std::ptrdiff_t>(std::min(part, shorter.size() - at)));
      if (fails(shorter)) {
        failing = std::move(shorter);
        is_smaller = true;
      } else {
        at += part;
      }
    }
    if (!is_smaller) part /= 2;
  }
  return failing;
}

}  // namespace rowlock::test::property
