#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::test {

/// For as long somebody relied on a lock, in microseconds of the clock that all processes share. Of one who was killed
/// meanwhile, the moment when that began.
struct belief {
  std::string name;
  std::int64_t permits = 0;  ///< 0: alone
  std::int64_t token = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::string by{};  ///< the process, as its file is called

  bool is_alone() const { return permits == 0; }
};

/// What was written under a lock; the number is unique.
struct write {
  std::string name;
  std::int64_t token = 0;
  std::int64_t number = 0;
};

/// How long a call waited that was to wait no longer than that.
struct wait {
  std::int64_t limit = 0;
  std::int64_t took = 0;
};

/// What all processes have done, and what the database has of it.
struct history {
  std::vector<belief> beliefs{};
  std::vector<write> confirmed{};  ///< commits that were answered, of transactions with confirm
  std::vector<write> fenced{};     ///< what these have written, in the order of the database
  std::vector<write> unfenced{};   ///< what was written without a transaction, in that order
  std::vector<wait> waits{};
  int lost = 0;  ///< locks of which their holders were told so
};

/// A process writes down what it does, each line at once, so that it is there after a kill.
class record {
 public:
  explicit record(const std::filesystem::path& file) : out_{file}, waits_{file.string() + waits} {}

  /// Behind the name of a file in which nothing is but waits.
  static constexpr const char* waits = ".waits";

  /// Its number, for `ends`.
  std::int64_t begins(const belief& b);
  void ends(std::int64_t number, std::int64_t at);
  void confirmed(const write& w);
  void waited(const wait& w);
  /// The holder was told that it has lost the lock.
  void lost();

 private:
  std::ofstream out_;
  std::ofstream waits_;
  std::int64_t beliefs_ = 0;
};

/// All records of a folder. A line that was cut is left out.
history read_records(const std::filesystem::path& folder);

/// "NAME TOKEN NUMBER;…"
std::vector<write> read_writes(const std::string& text);

}  // namespace rowlock::test
