#include "store/access.hpp"

#include <algorithm>

namespace rowlock::inline v1::store {

driver::request positional(const dialect::step& what, std::span<const argument> given) {
  driver::request out;
  const auto& wanted = what.signature.arguments;
  for (std::size_t i = 0; i < wanted.size() && wanted[i] != field::none; ++i) {
    const auto found = std::find_if(given.begin(), given.end(), [&](const argument& a) { return a.name == wanted[i]; });
    if (found != given.end()) out[i] = found->value;
  }
  return out;
}

records access::run_batch(dialect::verb what, std::span<const arguments> batch) const {
  return with_each(
      batch, [&](const arguments& each) { return positional(sql[what], each); },
      [&](std::span<const driver::request> all) {
        return records{sql[what], session, session.run(sql[what], all, until)};
      });
}

records access::run(dialect::verb what, std::initializer_list<argument> one) const {
  const auto request = positional(sql[what], one);
  return {sql[what], session, session.run(sql[what], {&request, 1}, until)};
}

records access::run_dirty(dialect::verb what, std::initializer_list<argument> one) const {
  const auto request = positional(sql[what], one);
  return {sql[what], session, session.run_dirty(sql[what], request, until)};
}

}  // namespace rowlock::inline v1::store
