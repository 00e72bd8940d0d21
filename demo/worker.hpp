#pragma once

namespace flash_sale {

/// In which this program is started by a crew.
inline constexpr const char* worker_role = "worker";

/// One process full of buyers, or with one late buyer: reads its task, tells when it is ready, buys when told to, and
/// tells what happened. Returns the exit status.
int work();

}  // namespace flash_sale
