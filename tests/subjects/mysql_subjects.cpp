#include <exception>
#include <string>
#include <vector>

#include "subjects/subject.hpp"
#include "support/my_connection.hpp"
#include "testkit/url.hpp"

namespace rowlock::test {

namespace {

/// GET_LOCK. It ends with its session: its program asks now and then whether it still has it.
class named_lock final : public subject {
 public:
  explicit named_lock(const std::string& url) : to_{parse_address(url)} {}

  bool try_acquire(const std::string& name) override {
    name_ = "'" + to_.database + "." + name + "'";
    asked_.begin();
    return says("GET_LOCK(" + name_ + ", 0)");
  }
  bool is_held() noexcept override try {
    if (asked_.is_within(ping_of_subjects)) return true;
    asked_.begin();
    return says("IS_USED_LOCK(" + name_ + ") = CONNECTION_ID()");
  } catch (const std::exception&) {
    return false;
  }
  void release() override { says("RELEASE_LOCK(" + name_ + ")"); }

 private:
  bool says(const std::string& what) {
    return line_.with([&](const my_connection& by) { return by.run("SELECT " + what).number(0, 0) == 1; });
  }

  const server_address to_;
  lasting<my_connection, server_address> line_{to_};
  std::string name_;
  since asked_;
};

}  // namespace

std::vector<subject_kind> mysql_subjects() {
  return {{"get-lock", "mysql", prepare_nothing, connect_subject<named_lock>}};
}

}  // namespace rowlock::test
