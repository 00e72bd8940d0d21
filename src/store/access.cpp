#include "store/access.hpp"

#include <algorithm>

namespace rowlock::inline v1::store {

namespace {

std::vector<record> named(dialect::verb what, std::vector<driver::row> rows) {
  const auto columns = dialect::signature_of(what);
  std::vector<record> out;
  out.reserve(rows.size());
  for (auto& r : rows) out.emplace_back(columns, std::move(r));
  return out;
}

}  // namespace

driver::request positional(dialect::verb what, std::span<const argument> given) {
  driver::request out;
  const auto wanted = dialect::signature_of(what).arguments;
  for (std::size_t i = 0; i < wanted.size() && wanted[i] != field::none; ++i) {
    const auto found = std::find_if(given.begin(), given.end(), [&](const argument& a) { return a.name == wanted[i]; });
    if (found != given.end()) out[i] = found->value;
  }
  return out;
}

std::vector<record> access::run_batch(dialect::verb what, std::span<const arguments> batch) const {
  std::vector<driver::request> requests;
  requests.reserve(batch.size());
  for (const auto& each : batch) requests.push_back(positional(what, each));
  return named(what, session.run(sql[what], requests, until));
}

std::vector<record> access::run(dialect::verb what, std::initializer_list<argument> one) const {
  const auto request = positional(what, one);
  return named(what, session.run(sql[what], {&request, 1}, until));
}

std::vector<record> access::run_dirty(dialect::verb what, std::initializer_list<argument> one) const {
  const auto request = positional(what, one);
  return named(what, session.run_dirty(sql[what], request, until));
}

}  // namespace rowlock::inline v1::store
