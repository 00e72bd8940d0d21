#include "command/json.hpp"

#include <chrono>
#include <iostream>

#include "base/text.hpp"

namespace rowlock::command {

json microseconds(const std::optional<duration>& d) { return d ? json(d->count()) : json{}; }

json or_null(const std::string& text) { return text.empty() ? json{} : json(text); }

std::string text_of(const json& what) {
  return base::printable_json(what.dump(2, ' ', false, json::error_handler_t::replace)) + '\n';
}

void print(const json& what) { std::cout << text_of(what); }

}  // namespace rowlock::command
