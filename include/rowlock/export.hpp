#pragma once

/// Marks what leaves the library; everything else is hidden. The attribute form, because g++ refuses [[nodiscard]]
/// in front of __attribute__. Inside src/ it marks what the backends' libraries use of the core's.
#define ROWLOCK_EXPORT [[gnu::visibility("default")]]
