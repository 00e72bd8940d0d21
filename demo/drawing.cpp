#include "drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace flash_sale {
namespace {

constexpr std::size_t most_lanes = 64;  ///< beyond them the threads of a process share one
constexpr int between_processes = 8;

struct lane {
  std::string name;
  std::vector<purchase> purchases;
};

bool shares_lanes(const sale& what) { return what.processes * what.threads > most_lanes; }

std::size_t lanes_of_process(const sale& what) { return shares_lanes(what) ? 1 : what.threads; }

int height_of_lane(const sale& what) {
  const auto count = static_cast<int>(what.processes * lanes_of_process(what));
  return std::clamp(300 / count, 6, 22);
}

int height_of_process(const sale& what) {
  return height_of_lane(what) * static_cast<int>(lanes_of_process(what)) + between_processes;
}

int height_of_all(const sale& what) { return height_of_process(what) * static_cast<int>(what.processes); }

/// The middle of a lane.
int place_of_lane(const sale& what, std::size_t number) {
  const auto each = lanes_of_process(what);
  const auto in_process = static_cast<int>(number % each);
  return static_cast<int>(number / each) * height_of_process(what) + between_processes / 2 +
         height_of_lane(what) * in_process + height_of_lane(what) / 2;
}

std::vector<lane> lanes_of(const drawing& run) {
  std::vector<lane> lanes;
  for (std::size_t at = 0; at < run.of.lanes.size(); ++at) {
    const auto process = at / run.what.threads + 1;
    const auto thread = at % run.what.threads + 1;
    if (!shares_lanes(run.what)) {
      lanes.push_back({fmt::format("process {}, thread {}", process, thread), run.of.lanes[at]});
      continue;
    }
    if (thread == 1) lanes.push_back({fmt::format("process {}, all threads", process), {}});
    auto& into = lanes.back().purchases;
    into.insert(into.end(), run.of.lanes[at].begin(), run.of.lanes[at].end());
  }
  return lanes;
}

/// Horizontal strokes at one height, as the data of an SVG path: the first by its place, each other by its distance
/// from the one before.
class strokes {
 public:
  explicit strokes(int height) : height_{height} {}

  void add(std::int64_t from, std::int64_t to) {
    const auto length = std::max<std::int64_t>(to - from, 1);
    if (data_.empty())
      fmt::format_to(std::back_inserter(data_), "M{} {}h{}", from, height_, length);
    else
      fmt::format_to(std::back_inserter(data_), "m{} 0h{}", from - end_, length);
    end_ = from + length;
  }

  /// Nothing where there are none.
  std::string as_path(std::string_view kind) const {
    return data_.empty() ? "" : fmt::format("<path class=\"{}\" d=\"{}\"/>", kind, data_);
  }

 private:
  int height_;
  std::string data_;
  std::int64_t end_ = 0;
};

/// Across the bars of a lane: when each order was written. As the data of an SVG path.
std::string order_marks(const drawing& run, const lane& what, int middle) {
  const auto height = height_of_lane(run.what) - 2;
  std::string data;
  std::int64_t last = 0;
  for (const auto& each : what.purchases) {
    if (each.order == 0) continue;
    const auto at = each.ordered - run.of.began;
    if (data.empty())
      fmt::format_to(std::back_inserter(data), "M{} {}v{}", at, middle - height / 2, height);
    else
      fmt::format_to(std::back_inserter(data), "m{} -{}v{}", at - last, height, height);
    last = at;
  }
  return data.empty() ? "" : fmt::format("<path class=\"order\" d=\"{}\"/>", data);
}

struct lane_strokes {
  explicit lane_strokes(int height)
      : waits{height}, bought{height}, in_vain{height}, conflicted{height}, oversold{height} {}

  strokes waits;
  strokes bought;
  strokes in_vain;  ///< nothing was left, or the user had an order
  strokes conflicted;
  strokes oversold;

  strokes& bar_for(const timeline& in, const purchase& what) {
    if (what.conflicted) return conflicted;
    if (what.order == 0) return in_vain;
    return in.is_oversold(what) ? oversold : bought;
  }
};

/// What a lane says of itself.
std::string title_of(const timeline& in, const lane& what) {
  const auto count = [&](const auto& counts) {
    return std::count_if(what.purchases.begin(), what.purchases.end(), counts);
  };
  return fmt::format("{}: {} orders, {} of them oversold", what.name,
                     count([](const auto& each) { return each.order != 0; }),
                     count([&](const auto& each) { return in.is_oversold(each); }));
}

std::string draw_lane(const drawing& run, const lane& what, int height) {
  lane_strokes all{height};
  for (const auto& each : what.purchases) {
    const auto granted = each.granted - run.of.began;
    if (run.has_lock) all.waits.add(each.asked - run.of.began, granted);
    all.bar_for(run.of, each).add(granted, each.released - run.of.began);
  }
  return fmt::format("<g class=\"lane\" data-name=\"{}\"><title>{}</title>{}{}{}{}{}{}</g>\n", what.name,
                     title_of(run.of, what), all.waits.as_path("wait"),
                     all.in_vain.as_path(run.has_lock ? "vain" : "vain unlocked"), all.conflicted.as_path("conflict"),
                     all.bought.as_path(run.has_lock ? "hold" : "hold unlocked"), all.oversold.as_path("oversold"),
                     order_marks(run, what, height));
}

std::string draw_bands(const drawing& run) {
  std::string bands;
  const auto height = height_of_process(run.what);
  const auto width = run.of.ended - run.of.began + 2 * run.visible.length();
  for (std::size_t at = 0; at < run.what.processes; ++at)
    bands += fmt::format("<rect class=\"band\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", -run.visible.length(),
                         height * static_cast<int>(at) + 1, width, height - 2);
  return bands;
}

struct point {
  double x = 0;
  double y = 0;
};

/// The number of orders after each of them.
std::vector<point> orders_over_time(const drawing& run) {
  std::vector<std::int64_t> times;
  for (const auto& each_lane : run.of.lanes)
    for (const auto& each : each_lane)
      if (each.order != 0) times.push_back(each.ordered - run.of.began);
  std::sort(times.begin(), times.end());
  auto count = run.sold - static_cast<std::int64_t>(times.size());
  std::vector<point> points{{static_cast<double>(run.of.shown_from - run.of.began), static_cast<double>(count)}};
  for (const auto each : times) points.push_back({static_cast<double>(each), static_cast<double>(++count)});
  points.push_back({static_cast<double>(run.of.ended - run.of.began), static_cast<double>(count)});
  return points;
}

/// Every so many of them, and the last one.
std::vector<point> thinned(const std::vector<point>& all) {
  constexpr std::size_t enough = 200;
  const auto step = std::max<std::size_t>(1, all.size() / enough);
  std::vector<point> some;
  for (std::size_t at = 0; at < all.size(); at += step) some.push_back(all[at]);
  some.push_back(all.back());
  return some;
}

/// The area below a curve and above a floor.
std::string area(std::string_view kind, const std::vector<point>& curve, double floor) {
  auto data = fmt::format("M{:.0f} {:.0f}", curve.front().x, -floor);
  for (const auto& each : curve) fmt::format_to(std::back_inserter(data), "L{:.0f} {:.0f}", each.x, -each.y);
  fmt::format_to(std::back_inserter(data), "L{:.0f} {:.0f}Z", curve.back().x, -floor);
  return fmt::format("<path class=\"{}\" d=\"{}\"/>", kind, data);
}

std::vector<point> at_most(std::vector<point> curve, double limit) {
  for (auto& each : curve) each.y = std::min(each.y, limit);
  return curve;
}

std::vector<point> at_least(std::vector<point> curve, double limit) {
  for (auto& each : curve) each.y = std::max(each.y, limit);
  return curve;
}

/// Some room above the curve.
double height_for(std::int64_t most_sold) { return static_cast<double>(most_sold) * 1.06; }

}  // namespace

std::string draw_lanes(const drawing& run) {
  std::string lanes;
  const auto all = lanes_of(run);
  for (std::size_t at = 0; at < all.size(); ++at) lanes += draw_lane(run, all[at], place_of_lane(run.what, at));
  const auto zero = run.of.sold_out - run.of.began;
  const auto line = run.of.sold_out == 0
                        ? ""
                        : fmt::format("<path class=\"soldout\" d=\"M{} 0v{}\"/>", zero, height_of_all(run.what));
  return fmt::format(
      "<svg class=\"lanes\" role=\"img\" aria-label=\"{}\" viewBox=\"{} 0 {} {}\" preserveAspectRatio=\"none\" "
      "style=\"height:{}px;--bar:{}px\">\n{}{}{}</svg>\n",
      run.label, run.visible.from, run.visible.length(), height_of_all(run.what), height_of_all(run.what),
      height_of_lane(run.what) - 2, draw_bands(run), lanes, line);
}

std::string draw_lane_names(const drawing& run) {
  std::string names;
  for (std::size_t at = 1; at <= run.what.processes; ++at)
    names += fmt::format("<li style=\"height:{}px\"><span>process {}</span></li>", height_of_process(run.what), at);
  return fmt::format("<ol class=\"names\" aria-hidden=\"true\">{}</ol>\n", names);
}

std::string draw_orders(const drawing& run, std::int64_t most_sold) {
  const auto curve = thinned(orders_over_time(run));
  const auto stock = static_cast<double>(run.what.units);
  const auto height = height_for(most_sold);
  const auto end = run.of.ended - run.of.began;
  return fmt::format(
      "<svg class=\"orders\" role=\"img\" aria-label=\"Orders over the whole run: {} at its end, {} in stock\" "
      "viewBox=\"0 {:.0f} {} {:.0f}\" preserveAspectRatio=\"none\">{}{}<path class=\"stock\" d=\"M0 {:.0f}H{}\"/>"
      "<rect class=\"visible\" x=\"{}\" y=\"{:.0f}\" width=\"{}\" height=\"{:.0f}\"/></svg>\n",
      run.sold, run.what.units, -height, end, height, area("sold", at_most(curve, stock), 0),
      curve.back().y > stock ? area("beyond", at_least(curve, stock), stock) : "", -stock, end, run.visible.from,
      -height, run.visible.length(), height);
}

double place_of_stock(const drawing& run, std::int64_t most_sold) {
  return static_cast<double>(run.what.units) / height_for(most_sold);
}

}  // namespace flash_sale
