#include "page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "assets.hpp"
#include "drawing.hpp"
#include "report.hpp"
#include "ways.hpp"

namespace flash_sale {
namespace {

constexpr double orders_visible = 40;     ///< about so many of them are visible at first
constexpr double before_sold_out = 0.55;  ///< so much of what is visible is before the last unit is sold

std::string_view description_of(std::string_view run) {
  if (run == without_lock) return "no lock";
  if (run == by_lock_in) return "rowlock::lock_in";
  if (run == by_optimism) return "rowlock::optimistically";
  return "rowlock::mutex";
}

/// 1, 2 or 5 times a power of ten, not below.
std::int64_t rounded_up(double microseconds) {
  const auto power = std::pow(10, std::floor(std::log10(std::max(microseconds, 1.0))));
  for (const double each : {1.0, 2.0, 5.0})
    if (each * power >= microseconds) return std::llround(each * power);
  return std::llround(10 * power);
}

/// How much time is visible of every run, so that they can be compared: by one of the faster ones with a lock, and not
/// more than the longest run takes.
std::int64_t visible_length(const std::vector<run_result>& results) {
  std::vector<double> for_an_order;
  double longest = 0;
  for (const auto& each : results) {
    for_an_order.push_back(1e6 / std::max(each.orders_per_second(), 1e-3));
    longest = std::max(longest, each.took.count() * 1e6);
  }
  std::sort(for_an_order.begin(), for_an_order.end());
  return rounded_up(std::min(for_an_order[for_an_order.size() / 3] * orders_visible, longest));
}

/// Times on the axis are counted from there.
std::int64_t zero_of(const timeline& what) {
  return (what.sold_out != 0 ? what.sold_out : what.shown_from) - what.began;
}

stretch visible_stretch(const timeline& what, std::int64_t length) {
  const auto before = static_cast<std::int64_t>(static_cast<double>(length) * before_sold_out);
  const auto from = zero_of(what) - (what.sold_out != 0 ? before : 0);
  return {.from = from, .to = from + length};
}

std::string label_of(const run_result& result, const timeline& recorded) {
  return fmt::format("Timeline of {}: {} lanes with {} orders, {} of them oversold", result.strategy,
                     recorded.lanes.size(), recorded.orders(), recorded.oversold());
}

std::string_view name_of_zero(const timeline& what) {
  return what.sold_out != 0 ? "last unit sold" : "begin of the record";
}

std::string tick(double place, std::string_view text) {
  return fmt::format("<li style=\"left:{:.3f}%\"><span>{}</span></li>", place * 100, text);
}

std::string tick_of_zero(double place, std::string_view name) {
  return fmt::format("<li class=\"zero\" style=\"left:{:.3f}%\"><span>0</span><b>{}</b></li>", place * 100, name);
}

std::string ticks_of(const timeline& what, const stretch& visible) {
  const auto zero = zero_of(what);
  const auto step = rounded_up(static_cast<double>(visible.length()) / 5);
  std::string all;
  for (auto at = (visible.from - zero) / step; at * step + zero <= visible.to; ++at) {
    const auto place = static_cast<double>(at * step + zero - visible.from) / static_cast<double>(visible.length());
    const auto distance = std::abs(static_cast<double>(at * step)) / 1000;
    all += at == 0 ? tick_of_zero(place, name_of_zero(what))
                   : tick(place, fmt::format("{}{:g} ms", at < 0 ? "−" : "+", distance));
  }
  return all;
}

std::string figure(std::string_view name, std::string_view value, bool is_wrong = false) {
  return fmt::format("<div><dt>{}</dt><dd{}>{}</dd></div>", name, is_wrong ? " class=\"wrong\"" : "", value);
}

std::string draw_figures(const run_result& result) {
  const auto all = figures_of(result);
  return "<dl class=\"figures\">" + figure("sold", all.sold) + figure("oversold", all.oversold, result.oversold() > 0) +
         figure("double orders", all.double_orders, result.double_orders > 0) +
         figure("orders/s", all.orders_per_second) + figure("lock wait p50", all.wait_p50) +
         figure("lock wait p99", all.wait_p99) + "</dl>\n";
}

std::string verdict_of(const run_result& result) {
  if (result.errors() == 0) return "<span class=\"verdict good\">every unit sold once</span>";
  if (result.oversold() == 0) return "<span class=\"verdict bad\">wrong</span>";
  return fmt::format("<span class=\"verdict bad\">{} oversold units</span>", result.oversold());
}

std::string draw_whole(const drawing& run, std::int64_t most_sold) {
  const auto end = static_cast<double>(run.of.ended - run.of.began) / 1e6;
  const auto part = run.of.is_whole() ? "" : " <b>(only the last part was recorded)</b>";
  return fmt::format(
      "<div class=\"plot\"><div class=\"side\">orders,<br>whole run</div><div><div class=\"curve\">{}"
      "<span style=\"bottom:{:.1f}%\">{} in stock</span></div><div class=\"ends\"><span>0 s{}</span><span>{:.2f} "
      "s</span></div></div></div>\n",
      draw_orders(run, most_sold), place_of_stock(run, most_sold) * 100, run.what.units, part, end);
}

std::string draw_window(const drawing& run) {
  return fmt::format(
      "<div class=\"plot\">{}<div class=\"window\" data-zero=\"{}\" data-name=\"{}\" data-end=\"{}\">"
      "<ol class=\"ticks\" aria-hidden=\"true\">{}</ol>{}</div></div>\n",
      draw_lane_names(run), zero_of(run.of), name_of_zero(run.of), run.of.ended - run.of.began,
      ticks_of(run.of, run.visible), draw_lanes(run));
}

std::string draw_run(const sale& what, const run_result& result, std::int64_t length, std::int64_t most_sold) {
  const auto& recorded = *result.recorded;
  const drawing run{.of = recorded,
                    .what = what,
                    .sold = result.sold,
                    .has_lock = result.strategy != without_lock,
                    .visible = visible_stretch(recorded, length),
                    .label = label_of(result, recorded)};
  return fmt::format(
      "<section class=\"run {0}\" data-run=\"{0}\" data-recorded-oversold=\"{1}\" aria-labelledby=\"run-{0}\">\n"
      "<header><h2 id=\"run-{0}\">{0}</h2><span class=\"soft\">{2}</span>{3}</header>\n{4}{5}{6}</section>\n",
      result.strategy, recorded.oversold(), description_of(result.strategy), verdict_of(result), draw_figures(result),
      draw_whole(run, most_sold), draw_window(run));
}

std::string draw_runs(const sale& what, const std::vector<run_result>& results) {
  std::int64_t most_sold = 0;
  for (const auto& each : results) most_sold = std::max({most_sold, each.sold, each.units});
  std::string all;
  for (const auto& each : results)
    if (each.recorded) all += draw_run(what, each, visible_length(results), most_sold);
  return all;
}

struct legend_entry {
  std::string_view kind;
  std::string_view text;
  int width;
};

std::string draw_legend() {
  constexpr std::array entries{
      legend_entry{"hold", "lock held, unit sold", 9},
      legend_entry{"vain", "lock held, nothing sold", 9},
      legend_entry{"wait", "wait", 1},
      legend_entry{"conflict", "conflict, to be repeated", 4},
      legend_entry{"hold unlocked", "no lock, unit sold", 9},
      legend_entry{"oversold", "oversold unit", 9},
  };
  std::string items;
  for (const auto& each : entries)
    items += fmt::format(
        "<li><svg class=\"lane\" aria-hidden=\"true\"><path class=\"{}\" style=\"stroke-width:{}px\" d=\"M0 "
        "5h26\"/></svg>{}"
        "</li>",
        each.kind, each.width, each.text);
  return "<ul class=\"legend\" aria-label=\"Legend\">" + items + "</ul>\n";
}

constexpr std::string_view controls =
    "<div class=\"controls\" role=\"group\" aria-label=\"Zoom of all timelines\" hidden>"
    "<button type=\"button\" value=\"out\" aria-label=\"Zoom out\">−</button>"
    "<button type=\"button\" value=\"in\" aria-label=\"Zoom in\">+</button>"
    "<button type=\"button\" value=\"first\">Last unit</button>"
    "<button type=\"button\" value=\"whole\">Whole run</button></div>\n";

std::string counted(std::size_t number, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", number, number == 1 ? singular : plural);
}

std::string draw_intro(const sale& what, const database& where, const std::vector<run_result>& results) {
  auto text =
      fmt::format("<div><h1>Flash sale: {} of one item</h1>\n<p>{} users click twice, in {} with {}, on {}. ",
                  counted(what.units, "unit", "units"), what.users(), counted(what.processes, "process", "processes"),
                  what.processes == 1 ? counted(what.threads, "thread", "threads")
                                      : counted(what.threads, "thread each", "threads each"),
                  product_of(where));
  for (const auto& each : results)
    if (each.strategy == without_lock && each.oversold() > 0)
      text += fmt::format(
          "Without a lock <span class=\"wrong\">{} units are oversold</span>, and {} orders are a user's second one.",
          each.oversold(), each.double_orders);
  return text + "</p></div>\n";
}

std::string draw_notes(const sale& what, std::int64_t length) {
  return fmt::format(
      "<section class=\"notes\"><h2>How to read this</h2>\n"
      "<p>The upper curve of a run is the number of orders until its end. The dashed line is the stock; what is above "
      "it "
      "is oversold. The marked part of it is what the lanes below show.</p>\n"
      "<p>Each lane is a {}. At first the lanes show {:g} ms around the moment at which the last unit is sold, at the "
      "same "
      "scale for every run. An order is oversold if the shop had stored as many orders as there were units before it. "
      "A thin "
      "line across a bar is the moment at which its order was written.</p>\n"
      "<p>Without a lock, purchases overlap: several buyers see the same unit in stock. With a lock, one buyer at a "
      "time "
      "has it, and the others wait. Optimistic attempts may overlap; those that conflict sell nothing and are "
      "repeated.</p>\n"
      "<p>The page has the latest 7000 purchases of each run, so that it stays below 2 MB. Seed {}.</p></section>\n",
      what.processes * what.threads > 64 ? "process" : "thread of a process", static_cast<double>(length) / 1000,
      what.seed);
}

/// The browser itself refuses to load anything.
constexpr std::string_view head =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" "
    "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
    "<title>rowlock: flash sale</title>\n";

}  // namespace

std::string page_of(const sale& what, const database& where, const std::vector<run_result>& results) {
  return fmt::format(
      "{}<style>\n{}</style>\n</head>\n<body>\n<main>\n<div class=\"top\">{}{}</div>\n{}<div "
      "class=\"runs\">\n{}</div>\n{}"
      "</main>\n<div id=\"tip\" hidden></div>\n<script>\n{}</script>\n</body>\n</html>\n",
      head, page_style, draw_intro(what, where, results), controls, draw_legend(), draw_runs(what, results),
      draw_notes(what, visible_length(results)), page_script);
}

}  // namespace flash_sale
