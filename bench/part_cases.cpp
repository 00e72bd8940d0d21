#include <rowlock/rowlock.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "ground.hpp"
#include "testkit/file_descriptor.hpp"

namespace bench {

namespace {

constexpr const char* name = "old/1";

/// One statement, again and again.
class statement_lane final : public lane {
 public:
  statement_lane(std::unique_ptr<test::connection> on, const std::string& text, std::span<const char* const> arguments)
      : connection_{std::move(on)}, statement_{connection_->prepare(text)}, arguments_{arguments} {}

  void cycle() override {
    if (statement_->run(arguments_) == 0) throw std::runtime_error{"a statement found no row"};
  }

 private:
  std::unique_ptr<test::connection> connection_;
  std::unique_ptr<test::statement> statement_;
  std::span<const char* const> arguments_;
};

class one_statement final : public subject {
 public:
  one_statement(ground here, const std::string& text, std::span<const char* const> arguments)
      : ground_{std::move(here)}, text_{ground_.text(text)}, arguments_{arguments} {
    rowlock::client::connect(ground_.at.url, ground_.options()).migrate();
    add_old_rows(ground_, 2);
  }

  std::unique_ptr<lane> open_lane(std::size_t /*number*/) override {
    return std::make_unique<statement_lane>(ground_.at.connect(), text_, arguments_);
  }

 private:
  ground ground_;
  std::string text_;
  std::span<const char* const> arguments_;
};

void check(bool is_fine, const char* doing) {
  if (!is_fine) throw std::system_error{errno, std::generic_category(), doing};
}

/// Overwrites the beginning of a file, as a server does with its log.
class disk_lane final : public lane {
 public:
  explicit disk_lane(const std::filesystem::path& file)
      : file_{::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)} {
    check(file_.get() >= 0, "open");
    cycle();
  }

  void cycle() override {
    check(::pwrite(file_.get(), page_.data(), page_.size(), 0) == static_cast<ssize_t>(page_.size()), "pwrite");
    check(::fdatasync(file_.get()) == 0, "fdatasync");
  }

 private:
  test::file_descriptor file_;
  std::array<char, 8192> page_{};
};

class disk final : public subject {
 public:
  explicit disk(const std::filesystem::path& folder) : file_{folder / "page"} {}

  std::unique_ptr<lane> open_lane(std::size_t /*number*/) override { return std::make_unique<disk_lane>(file_); }

 private:
  std::filesystem::path file_;
};

census uncounted(const std::function<std::unique_ptr<subject>()>& /*make*/, std::size_t /*threads*/,
                 std::size_t /*cycles*/) {
  return {};
}

named_subject one(const char* label, const make_ground& make, std::string server::*text,
                  std::span<const char* const> arguments) {
  return {.name = label, .make = [make, text, arguments](const auto& /*folder*/) {
            auto here = make();
            const auto sql = here.at.*text;
            return std::make_unique<one_statement>(std::move(here), sql, arguments);
          }};
}

}  // namespace

std::vector<bench_case> part_cases(const std::string& database, const make_ground& make) {
  static constexpr std::array<const char*, 1> of_name{name};
  return {{.name = "parts of a cycle, 1 thread",
           .database = database,
           .subjects = {one("raw SELECT 1", make, &server::nothing, {}),
                        one("raw UPDATE of a row", make, &server::raise_version, of_name),
                        {.name = "fdatasync of 8 KiB",
                         .make = [](const auto& folder) { return std::make_unique<disk>(folder); }}},
           .count = uncounted}};
}

}  // namespace bench
