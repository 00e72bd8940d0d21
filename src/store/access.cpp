#include "store/access.hpp"

#include <algorithm>

namespace rowlock::inline v1::store {

driver::request positional(const sheets::step& what, std::span<const argument> given) {
  driver::request out;
  const auto& wanted = what.signature.arguments;
  for (std::size_t i = 0; i < wanted.size() && wanted[i] != field::none; ++i) {
    const auto found = std::find_if(given.begin(), given.end(), [&](const argument& a) { return a.name == wanted[i]; });
    if (found != given.end()) out[i] = found->value;
  }
  return out;
}

records access::run_batch(sheets::verb what, std::span<const arguments> batch) const {
  return with_each(
      batch, [&](const arguments& each) { return positional(sheet[what], each); },
      [&](std::span<const driver::request> all) {
        return records{sheet[what], session, session.run(sheet[what], all, until)};
      });
}

records access::run(sheets::verb what, const arguments& one) const {
  const auto request = positional(sheet[what], one);
  return {sheet[what], session, session.run(sheet[what], {&request, 1}, until)};
}

records access::run_dirty(sheets::verb what, const arguments& one) const {
  const auto request = positional(sheet[what], one);
  return {sheet[what], session, session.run_dirty(sheet[what], request, until)};
}

}  // namespace rowlock::inline v1::store
