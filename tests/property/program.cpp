#include "property/program.hpp"

#include <random>

#include "support/strategies.hpp"

namespace rowlock::test::property {

namespace {

struct choice {
  verb what;
  const char* words;
  double weight;
  bool is_of_handle;
};
constexpr choice choices[] = {{verb::acquire, "acquires", 5, false},
                              {verb::share, "shares", 4, false},
                              {verb::take_permits, "takes permits", 3, false},
                              {verb::release, "releases", 6, true},
                              {verb::extend, "extends", 1, true},
                              {verb::upgrade, "upgrades", 2, true},
                              {verb::downgrade, "downgrades", 2, true},
                              {verb::confirm, "confirms", 1, true},
                              {verb::force_release, "forces", 1, false},
                              {verb::force_token, "forces the token", 1, true}};

}  // namespace

std::ostream& operator<<(std::ostream& out, const step& s) {
  const auto& how = choices[static_cast<std::size_t>(s.what)];
  out << '#' << s.number << ": client " << s.client << ' ' << how.words;
  if (how.is_of_handle) out << " of #" << s.of;
  if (!how.is_of_handle || s.what == verb::force_token) out << " of name " << s.name;
  if (s.what == verb::acquire) out << " by " << s.strategy;
  if (s.what == verb::take_permits) out << ", " << s.permits << " of " << all_permits;
  if ((s.what == verb::acquire || s.what == verb::share) && s.holder != 0) out << ", as holder " << s.holder;
  return out;
}

std::ostream& operator<<(std::ostream& out, const program& all) {
  for (const auto& each : all) out << "  " << each << '\n';
  return out;
}

program random_program(unsigned seed, int length) {
  std::mt19937 random{seed};
  const auto below = [&](int end) { return std::uniform_int_distribution{0, end - 1}(random); };
  std::vector<double> weights;
  for (const auto& each : choices) weights.push_back(each.weight);
  std::discrete_distribution<std::size_t> verbs{weights.begin(), weights.end()};
  program out;
  for (int i = 1; i <= length; ++i)
    out.push_back({.number = i,
                   .what = choices[verbs(random)].what,
                   .client = below(clients),
                   .name = below(names),
                   .holder = below(3),
                   .strategy = all_strategies.at(static_cast<std::size_t>(below(3))),
                   .permits = 1 + below(static_cast<int>(all_permits)),
                   .of = std::max(1, i - 1 - below(8))});
  return out;
}

}  // namespace rowlock::test::property
