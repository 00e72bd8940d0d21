#include "mistakes.hpp"

#include <algorithm>
#include <string>

#include "paused.hpp"
#include "report.hpp"
#include "strategies.hpp"

namespace flash_sale {
namespace {

constexpr std::size_t most_units = 100;
constexpr int most_attempts = 5;

template <class Attempt>
run_result until_oversold(const Attempt& attempt) {
  auto result = attempt();
  for (int n = 1; n < most_attempts && result.oversold() == 0; ++n) result = attempt();
  return result;
}

run_result show_unlocking(sale what, const database& where, const interrupts& signals) {
  what.units = std::min(what.units, most_units);
  const auto run_as = [&](std::string_view name) { return run(what, where, std::string{name}, signals); };
  const auto wrong = until_oversold([&] { return run_as(unlocked_too_early); });
  auto right = run_as(unlocked_after_commit);
  print_unlocking(wrong, right);
  return right;
}

run_result show_pausing(const database& where, const interrupts& signals) {
  const auto run_as = [&](std::string_view name) { return run_paused(where, std::string{name}, signals); };
  const auto wrong = until_oversold([&] { return run_as(paused_without_confirm); });
  auto right = run_as(paused_with_confirm);
  print_pausing(wrong, right);
  return right;
}

}  // namespace

std::vector<run_result> show_mistakes(const sale& what, const database& where, const interrupts& signals) {
  return {show_unlocking(what, where, signals), show_pausing(where, signals)};
}

}  // namespace flash_sale
