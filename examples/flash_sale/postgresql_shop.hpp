#pragma once

#include <memory>
#include <string>

#include "shop.hpp"

namespace flash_sale {

std::unique_ptr<shop> open_postgresql_shop(const std::string& url);

}  // namespace flash_sale
