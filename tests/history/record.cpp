#include "history/record.hpp"

#include <algorithm>
#include <map>
#include <sstream>

namespace rowlock::test {

namespace {

constexpr std::string_view end_of_line = " .";

void read_line(const std::string& line, const std::string& by, history& to,
               std::map<std::int64_t, std::size_t>& begun) {
  std::istringstream in{line};
  char what{};
  in >> what;
  if (what == 'B') {
    std::int64_t number{};
    belief b;
    in >> number >> b.name >> b.permits >> b.token >> b.begin;
    b.end = b.begin;
    b.by = by;
    begun[number] = to.beliefs.size();
    to.beliefs.push_back(b);
  } else if (what == 'E') {
    std::int64_t number{};
    std::int64_t at{};
    in >> number >> at;
    to.beliefs.at(begun.at(number)).end = at;
  } else if (what == 'C') {
    write w;
    in >> w.name >> w.token >> w.number;
    to.confirmed.push_back(w);
  } else if (what == 'L') {
    ++to.lost;
  } else {
    wait w;
    in >> w.limit >> w.took;
    to.waits.push_back(w);
  }
}

}  // namespace

std::int64_t record::begins(const belief& b) {
  out_ << "B " << ++beliefs_ << ' ' << b.name << ' ' << b.permits << ' ' << b.token << ' ' << b.begin << end_of_line
       << std::endl;
  return beliefs_;
}

void record::ends(std::int64_t number, std::int64_t at) {
  out_ << "E " << number << ' ' << at << end_of_line << std::endl;
}

void record::confirmed(const write& w) {
  out_ << "C " << w.name << ' ' << w.token << ' ' << w.number << end_of_line << std::endl;
}

void record::waited(const wait& w) { waits_ << "W " << w.limit << ' ' << w.took << end_of_line << std::endl; }

void record::lost() { out_ << 'L' << end_of_line << std::endl; }

history read_records(const std::filesystem::path& folder) {
  history out;
  for (const auto& file : std::filesystem::directory_iterator{folder}) {
    std::ifstream in{file.path()};
    std::map<std::int64_t, std::size_t> begun;
    for (std::string line; std::getline(in, line);)
      if (line.ends_with(end_of_line)) read_line(line, file.path().filename().string(), out, begun);
  }
  return out;
}

std::vector<write> read_writes(const std::string& text) {
  std::vector<write> out;
  std::string spaced{text};
  std::ranges::replace(spaced, ';', ' ');
  std::istringstream in{spaced};
  for (write w; in >> w.name >> w.token >> w.number;) out.push_back(w);
  return out;
}

}  // namespace rowlock::test
