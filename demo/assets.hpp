#pragma once

namespace flash_sale {

extern const char* const page_style;   ///< page.css
extern const char* const page_script;  ///< page.js

}  // namespace flash_sale
