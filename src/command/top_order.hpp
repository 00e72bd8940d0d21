#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rowlock::command {

/// By what `rowlock top` sorts.
enum class top_order : std::uint8_t { name, age, lease, queue, rate };

struct top_order_name {
  top_order order;
  std::string_view name;
};
inline constexpr std::array<top_order_name, 5> top_orders{{{top_order::name, "name"},
                                                           {top_order::age, "age"},
                                                           {top_order::lease, "lease"},
                                                           {top_order::queue, "queue"},
                                                           {top_order::rate, "rate"}}};

}  // namespace rowlock::command
