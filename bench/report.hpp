#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "result.hpp"

namespace bench {

/// What gnuplot draws for each database, as SVG files in that folder: throughput over threads, and how long a cycle
/// takes. The same results give the same script.
std::string gnuplot_script(const std::vector<result>& results, const std::string& folder);

/// The names of these files, and what each shows in a sentence.
std::map<std::string, std::string> plot_titles(const std::vector<result>& results);

/// What gnuplot drew, with that title, and with other colours for readers who prefer dark pages.
std::string finished_plot(const std::string& svg, const std::string& title);

/// The page with its generated blocks made anew. A block begins with `<!-- bench KIND: REGEX -->`, ends with
/// `<!-- bench end -->` and holds a table of the cases in whose names the expression is found. Where there are no such
/// results it stays as it is. The kinds:
///
///   threads   cycles per second, a column for each number of threads
///   rates     a line for each subject: cycles per second, times, what it needs
///   ratios    a line for each subject, a column for each database: the time beside that of the baseline
///   figures   a line for each subject, a column for each other figure of the case
///
/// Throws std::invalid_argument where a block has no end or is of no kind.
std::string with_tables(std::string_view page, const std::vector<result>& results);

/// A table of how the rates of `ours` are beside those of `theirs`: what was measured in turns, the first with the
/// first. The median of the turns, and the least and the most; of the baselines, too, which show how quiet the machine
/// was. Throws std::invalid_argument where they are not of the same cases.
std::string ours_beside_theirs(const std::vector<result>& ours, const std::vector<result>& theirs);

}  // namespace bench
