#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::test {

/// A strict parser of OpenMetrics 1.0 text: a violation of the format throws std::runtime_error with the line's number.
/// It accepts no exemplars and no timestamps, as node_exporter's textfile collector.
struct openmetrics {
  using labels = std::map<std::string, std::string, std::less<>>;
  struct sample {
    std::string name;
    openmetrics::labels labels;
    double value = 0;
  };
  struct family {
    std::string type;
    std::string unit;
    std::string help;
    std::vector<openmetrics::sample> samples;
  };

  /// By the names of the "# TYPE" lines.
  std::map<std::string, family, std::less<>> families;

  static openmetrics parse(std::string_view text);

  /// Throws std::runtime_error if there is no such sample.
  double value(std::string_view sample_name, const labels& of = {}) const;
};

}  // namespace rowlock::test
